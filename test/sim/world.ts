import { getEventListeners } from 'node:events';
import { Failure } from '../../src/base/failure.ts';
import { postTimeOf } from '../../src/contract/read-record.ts';
import { Spend } from '../../src/core/spend/spend.ts';
import { calloutConfluence, thesisConfluence } from '../../src/tail/confluence.ts';
import { Tail } from '../../src/tail/engine.ts';
import type { Summary, TailNotice } from '../../src/tail/notice.ts';
import { stagesOf } from '../../src/tail/output/stages.ts';
import type { StartPoint, TailOptions, TailPorts, Writer } from '../../src/tail/ports.ts';
import {
  continueAfter,
  type Position,
  positionText,
  readPosition,
} from '../../src/tail/position.ts';
import type { TailRow } from '../../src/tail/post-row.ts';
import { withMinutes } from '../../src/tail/socket/minutes.ts';
import { timing } from '../../src/tail/timing.ts';
import { mayBeCharged } from './charged.ts';
import { createDisk, type Disk } from './disk.ts';
import { createExecOutput } from './exec-output.ts';
import { calmMs, EPOCH, type Post } from './posts.ts';
import { rngOf } from './rng.ts';
import type { Fault, Schedule } from './schedule.ts';
import { clockOn, createScheduler, runUntil, type Scheduler } from './scheduler.ts';
import { type Access, createService, type Service, type Source } from './service.ts';

/** One process of the tail and its observed results. It continues from `resumed`. */
const openProcess = (
  resumed: Position | undefined,
  isAssumed: boolean,
  access: Access,
  beganAt: number,
) => ({
  ...{ resumed, access, beganAt, fresh: resumed === undefined },
  /** Whether only the lines of its file show where it continued, because the position was lost. */
  isAssumed: resumed !== undefined && isAssumed,
  notices: [] as TailNotice[],
  /** The written ids, one list per write, and whether they came from pages. */
  writes: [] as (readonly { readonly id: string; readonly paged: boolean }[])[],
  killed: false,
  summary: undefined as Summary | undefined,
  failure: undefined as unknown,
  /** The virtual times of the last verification, and of the end. */
  verifiedAt: undefined as number | undefined,
  endedAt: 0,
  /** The CU per minute that it stated when it wrote last. */
  perMinute: 0,
  /** The number of waits and listeners that remain after the end. */
  left: 0,
  savedWrites: 0,
  /** The last position that was saved. */
  saved: undefined as Position | undefined,
  /** The ids of posts that a command had processed before the command failed. */
  failed: new Set<string>(),
  /** Whether it ended during a write or a flush. */
  isBlocked: false,
});
export type Process = ReturnType<typeof openProcess>;

/** The result of a simulation. */
export interface Outcome {
  readonly schedule: Schedule;
  readonly service: Service;
  readonly disk: Disk;
  readonly processes: Process[];
  readonly endsAt: number;
  /** What was wrong while the schedule ran: posts that a position claimed falsely, batches that were handed over too early. */
  readonly problems: string[];
}

/** Changes to the ports or options of the tail that a test must detect. */
export interface Mutation {
  readonly world?: (world: TailPorts) => TailPorts;
  readonly options?: (options: TailOptions) => TailOptions;
  /** Whether a resumed process does not read the lines behind its position. */
  readonly isBlind?: boolean;
  /** Changes the position from which a process continues. */
  readonly resumed?: (position: Position) => Position;
}

const RESTART_MS = 2_000;
/** Shorter than in production, so that the calm phase at the end of a run can be short too. */
export const LONG_AUDIT_MS = 80_000;
const timeField = ({ feed }: Schedule) => (feed === 'thesis' ? 'platformCreatedAt' : 'createdAt');

/** Whether a row passes the filter of a schedule. */
export const passes = (schedule: Schedule, symbol: unknown): boolean =>
  (!schedule.sifted || symbol === 'AAA') && (!schedule.desk || symbol !== 'CCC');

/** Runs a schedule; throws if it does not end. */
export async function runSchedule(schedule: Schedule, mutation: Mutation = {}): Promise<Outcome> {
  const scheduler = createScheduler();
  const service = createService(schedule, scheduler);
  const disk = createDisk(rngOf(schedule.seed, 3));
  const endsAt = schedule.busyMs + calmMs(schedule);
  const outcome: Outcome = { schedule, service, disk, processes: [], endsAt, problems: [] };
  const judgeClaim = claimJudge(outcome);

  const pause = (ms: number) =>
    new Promise<void>((resolve) => void scheduler.at(scheduler.now + ms, resolve));
  const supervise = async () => {
    while (scheduler.now < endsAt) {
      const process = await runProcess(outcome, scheduler, mutation, judgeClaim);
      if (!process.killed && (schedule.resume === 'none' || isFinal(process.failure, schedule)))
        break;
      if (process.failure instanceof Failure && process.failure.kind === 'quota') service.topUp();
      await pause(RESTART_MS);
    }
    // Half-open connections are charged until the service notices.
    await pause(200_000);
  };
  await runUntil(scheduler, supervise());
  return outcome;
}

/** Whether a process is not started again after this end: its limits would end the next one too. */
const isFinal = (failure: unknown, { faults, ceiling }: Schedule): boolean =>
  failure === undefined ||
  ceiling !== null ||
  faults.some(({ kind, to }) => kind === 'quota' && to >= 1e12);

async function runProcess(
  outcome: Outcome,
  scheduler: Scheduler,
  mutation: Mutation,
  judgeClaim: (position: Position, now: number) => string[],
): Promise<Process> {
  const { schedule, service, disk, processes, endsAt } = outcome;
  const killAt = schedule.kills[processes.length] ?? Number.POSITIVE_INFINITY;
  let alive = true;
  let touches = 0;
  let kill = () => {};
  const killed = new Promise<void>((resolve) => {
    kill = resolve;
  });
  const touch = () => {
    touches++;
    if (touches < killAt || !alive || scheduler.now >= schedule.busyMs) return;
    alive = false;
    kill();
  };
  const sleeps = schedule.faults.filter(({ kind }) => kind === 'sleep');
  const skew = () =>
    schedule.skew + EPOCH + sleeps.filter(({ from }) => from <= scheduler.now).length * 7_200_000;
  const clock = clockOn(scheduler, skew, () => alive);
  const access = service.access(() => alive, touch);
  const known = resumeOf(outcome, mutation.isBlind);
  const resume = known && (mutation.resumed?.(known) ?? known);
  const process = openProcess(resume, disk.checkpoint === undefined, access, scheduler.now);
  processes.push(process);

  const cancelKills = schedule.faults
    .filter(({ kind, from }) => kind === 'kill' && from > scheduler.now)
    .map(({ from }) =>
      scheduler.at(from, () => {
        alive = false;
        kill();
      }),
    );
  const rng = rngOf(schedule.seed, 10 + processes.length);
  const buffering = rngOf(schedule.seed, 1_000 + processes.length);
  const effect = <T>(ms: number, act: () => T): Promise<T> =>
    new Promise((resolve) => {
      touch();
      if (!alive) return;
      scheduler.at(scheduler.now + ms, () => {
        touch();
        if (!alive) return;
        const value = act();
        touch();
        if (alive) resolve(value);
      });
    });
  const blocked = (kind: Fault['kind']) =>
    schedule.faults.find(
      (fault) => fault.kind === kind && fault.from <= scheduler.now && scheduler.now < fault.to,
    );
  const slowness = () => {
    const block = blocked('blockOut');
    if (block) return block.to - scheduler.now;
    return blocked('slowOut') ? rng.between(200, 3_000) : 0;
  };
  let flushed = 0;
  /** Resolves when all rows that the sink has accepted are in the file. */
  let writing = Promise.resolve(true);
  /** Writes and flushes in progress, which may overlap. */
  let unfinished = 0;
  const isFile = schedule.resume === 'file' || schedule.resume === 'both';
  const writer: Writer = {
    write(rows) {
      if (!alive) return new Promise(() => {});
      process.writes.push(rows.map(({ id, raw }) => ({ id, paged: raw === null })));
      process.perMinute = tail.status().perMinute;
      const lines = rows.map((row) => lineOf(row, timeField(schedule)));
      const appendAll = () => {
        for (const line of lines) disk.write(line);
      };
      const ms = slowness();
      unfinished++;
      const done = () => {
        unfinished--;
        return true;
      };
      // A pipe takes the rows at once. A file has them some time after the sink has accepted them.
      if (!isFile) appendAll();
      const isBuffered = isFile && ms === 0 && buffering.chance(0.7);
      const before = writing;
      const written = effect(isBuffered ? buffering.between(0, 50) : ms, () => before).then(() => {
        if (isFile) appendAll();
        return done();
      });
      writing = written;
      return isBuffered || written;
    },
    async flush() {
      flushed = process.writes.length;
      unfinished++;
      await writing;
      return effect(slowness() + 1, () => {
        unfinished--;
        disk.flush();
        return true;
      });
    },
    ...(isFile && { place: () => ({ dev: '1', ino: '1', offset: disk.lines.length }) }),
  };
  const saved = (position: Position) => {
    process.saved = position;
    // A file of confluences has no certificate, and that of a cooldown is about what it let through.
    if (!schedule.rule && !schedule.cooldown)
      outcome.problems.push(...judgeClaim(position, scheduler.now));
  };
  const save = async (position: Position) => {
    const until = flushed;
    await effect(rng.between(1, 10), () => {
      if (rng.chance(0.3)) disk.older = disk.checkpoint;
      disk.checkpoint = position;
      saved(position);
      process.savedWrites = until;
    });
  };
  const exec =
    schedule.exec &&
    createExecOutput({
      ...{ exec: schedule.exec, disk, clock, rng, process, effect, slowness, saved },
      problem: (text) => outcome.problems.push(text),
    });
  const fields = schedule.feed === 'thesis' ? thesisConfluence : calloutConfluence;
  const verified = () => tail.status().verified;
  const { rule: confluence, cooldown } = schedule;
  const stages = stagesOf({ confluence, cooldown }, { fields, state: resume?.state, verified });
  const limit = { limit: schedule.ceiling ?? undefined };
  const spend = new Spend(limit, { acquire: async () => {} }, undefined);
  const { left } = spend;
  const world: TailPorts = {
    clock,
    random: rng.next,
    source: paid(access.source, spend),
    own: schedule.desk
      ? {
          sources: ['AAA', 'BBB'].map((symbol) => paid(access.sourceOf(symbol), spend)),
          mostPages: 0,
        }
      : undefined,
    connect:
      schedule.feed === 'thesis'
        ? withMinutes(access.connect, clock, (signal) =>
            spend.reserve(
              { endpoint: 'ws', bounds: { least: 0, most: 20_000, reveals: 0 } },
              signal,
            ),
          )
        : undefined,
    left,
    key: access.key(left),
    spent: () => spend.spent,
    output: {
      writer: exec?.writer ?? writer,
      stages,
      save: schedule.resume === 'none' ? undefined : (exec?.save ?? save),
    },
  };
  const options: TailOptions = {
    start: resume ? { kind: 'position', position: resume } : startOf(schedule, scheduler),
    via: schedule.via,
    lagMs: schedule.lagMs,
    firstTries: 6,
    filter: (row) => passes(schedule, row.record['tokenSymbol']),
    durationMs: schedule.end === 'duration' ? Math.max(1, endsAt - scheduler.now) : undefined,
    limitLeft: () => (schedule.ceiling === null ? null : schedule.ceiling - spend.spent.atMost),
    socketShare: 1,
    timing: { longAuditMs: LONG_AUDIT_MS },
    feed: 'sim',
    on: (notice) => {
      process.notices.push(notice);
      if (notice.kind === 'end') process.summary = notice.summary;
    },
  };
  const tail: Tail = new Tail(
    mutation.world?.(world) ?? world,
    mutation.options?.(options) ?? options,
  );
  const controller = new AbortController();
  const stop = scheduler.at(schedule.end === 'stop' ? endsAt : endsAt + 60_000, () =>
    controller.abort(),
  );
  const ran = tail.run(controller.signal).then(
    () => {},
    (failure) => {
      process.failure = failure;
    },
  );
  await Promise.race([ran, killed]);
  stop();
  for (const cancel of cancelKills) cancel();
  process.killed = !alive;
  // What the process has not completed ends with it.
  alive = false;
  process.endedAt = scheduler.now;
  process.isBlocked = unfinished > 0;
  const ago = tail.status().walkedAgoMs;
  process.verifiedAt = ago === null ? undefined : scheduler.now - ago;
  if (process.killed) disk.crash();
  else
    process.left = clock.waits + access.open + getEventListeners(controller.signal, 'abort').length;
  if (process.failure !== undefined && !(process.failure instanceof Failure)) throw process.failure;
  return process;
}

/** The post time by which a tail may verify a post; null if the tail cannot use it. */
export function verifiableTime({ record }: Post): number | null {
  const at = postTimeOf(record['platformCreatedAt'] ?? record['createdAt']);
  return at !== null && at > EPOCH + 86_400_000 ? null : at;
}

/**
 * Returns the posts that a position claims to be in the lines that it certifies, although these have no such line, or a crash
 * at this time would leave it out.
 */
function claimJudge({
  schedule,
  service,
  disk,
}: Outcome): (position: Position, now: number) => string[] {
  const posts = service.posts
    .filter(({ old, nameless, goneAt }) => !old && !nameless && goneAt === Number.POSITIVE_INFINITY)
    .flatMap((post) => {
      const at = passes(schedule, post.symbol) ? verifiableTime(post) : null;
      return at === null ? [] : { id: post.id, at, visibleAt: post.visibleAt };
    })
    .sort((a, b) => a.at - b.at);
  let before = '';
  let next = 0;
  return ({ coverage, verified, file }, now) => {
    if (!coverage || verified === null) return [];
    const { after, gaps } = coverage;
    // A post that is safe stays so: with the same coverage, only what is newly verified is a new claim.
    const same = JSON.stringify(coverage);
    if (same !== before) next = 0;
    before = same;
    const problems: string[] = [];
    for (let post = posts[next]; post && post.at <= verified; post = posts[++next]) {
      const { id, at, visibleAt } = post;
      if (at <= (after ?? at - 1) || disk.isSafe(id, file?.offset)) continue;
      if (gaps.some(({ from, to }) => at >= from && at <= to)) continue;
      problems.push(
        `${id} is claimed at ${Math.round(now)}, but not in the output (posted at ${at - EPOCH}, visible ${Math.round(visibleAt)})`,
      );
    }
    return problems;
  };
}

/** The line of a row, as the program writes it. */
function lineOf({ id, raw, record }: TailRow, timeField: string) {
  const written = raw ? JSON.parse(Buffer.from(raw).toString()) : record;
  return { id: written.id ?? id, at: postTimeOf(written[timeField]), record: written };
}

const startOf = (schedule: Schedule, scheduler: Scheduler): StartPoint => {
  const { start } = schedule;
  return start.kind === 'since' ? { kind: 'since', at: EPOCH + scheduler.now - start.ago } : start;
};

/** Pays for each page in advance, like the client. */
const paid = (source: Source, spend: Spend): TailPorts['source'] => ({
  sizes: source.sizes,
  stepCu: source.price(source.sizes.step),
  async page(ask, signal) {
    const most = source.price(ask.limit);
    const slot = await spend.reserve(
      { endpoint: 'page', bounds: { least: 0, most, reveals: 0 }, lane: 'key' },
      signal,
    );
    try {
      const page = await source.page(ask, signal);
      slot.settle({ status: 200, cu: most });
      return page;
    } catch (error) {
      const isLost = !(error instanceof Failure) || mayBeCharged(error);
      if (isLost) slot.lose();
      else slot.release();
      throw error;
    }
  },
});

/** The position from which a new process continues, and the ids of the lines behind it. */
function resumeOf({ schedule, disk }: Outcome, isBlind = false): Position | undefined {
  const hasFile = schedule.resume === 'file' || schedule.resume === 'both';
  if (hasFile && schedule.position === 'lost') disk.checkpoint = undefined;
  if (hasFile && schedule.position === 'old') disk.checkpoint = disk.older ?? disk.checkpoint;
  const position = disk.checkpoint && readPosition(positionText(disk.checkpoint), 'sim');
  if (!hasFile || (isBlind && position)) return position;
  const { offset = 0 } = position?.file ?? {};
  // An output with stages writes these lines again.
  if (position?.state !== undefined) disk.cut(offset);
  return continueAfter(position, disk.lines.slice(offset), 'sim', timing.latenessMs);
}
