import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../../src/base/failure.ts';
import { readStart, savePosition } from '../../../src/cli/tail/position-file.ts';
import { createTail } from '../../../src/tail/engine.ts';
import { type Batch, type CommandEnd, createDelivery } from '../../../src/tail/exec/delivery.ts';
import { createHandoff } from '../../../src/tail/exec/handoff.ts';
import type { Summary } from '../../../src/tail/notice.ts';
import { rngOf } from '../rng.ts';
import { createDriver, type SimulatedProcess } from './driver.ts';
import { createEndlessFeed, type Trouble } from './feed.ts';
import { createHandoffJudge } from './handoff-judge.ts';
import { type Incident, type IncidentPlan, incidentsOf, START_MS } from './incidents.ts';

export interface ExecMonthPlan extends IncidentPlan {
  readonly via: 'ws' | 'poll';
  readonly lagMs: number;
  readonly postMs: number;
  readonly lingerMs: number;
  /**
   * The time after which a hanging command is killed, as by `timeout 30 CMD`; if undefined, the command hangs
   * until the end of the incident.
   */
  readonly timeoutMs: number | undefined;
  readonly folder: string;
  /** The safeguard to remove; the judge must notice that it is missing. */
  readonly flaw?: 'forgets' | 'skips' | 'early' | undefined;
}

export interface ExecMonthOutcome {
  readonly problems: readonly string[];
  readonly posts: number;
  readonly batches: number;
  readonly attempts: number;
  readonly repeated: number;
  readonly dead: number;
  readonly starts: number;
  /** The number of processes that were killed while their command ran. */
  readonly killedBusy: number;
  /** The numbers of commands that were killed, and of commands that hung. */
  readonly killedCommands: number;
  readonly hung: number;
}

const troubles = ['pages', 'lose', 'double', 'close'] as const;
const kinds = [...troubles, 'kill', 'step', 'fail', 'hang', 'killCommand', 'killBusy'] as const;
type Kind = (typeof kinds)[number];

const isTrouble = (incident: Incident<Kind>): incident is Incident<Kind> & Trouble =>
  troubles.some((kind) => kind === incident.kind);

const BATCH = 20;
const TRIES = 10;

/** Runs a tail that hands its posts to a command, with its real checkpoint file, through virtual time. */
export async function runExecMonth(plan: ExecMonthPlan): Promise<ExecMonthOutcome> {
  const { seed, lengthMs, via, folder, postMs, timeoutMs, flaw } = plan;
  const driver = createDriver();
  const { scheduler } = driver;
  const rng = rngOf(seed, 9);
  const incidents = incidentsOf(plan, kinds, {
    pages: [1_000, 200_000],
    fail: [1_000, 400_000],
    hang: [1_000, 400_000],
  });
  const faults = incidents.filter(isTrouble);
  const checkpoint = join(folder, 'checkpoint.json');
  const endsAt = START_MS + lengthMs;
  const judge = createHandoffJudge(postMs);
  let [starts, batches, killedBusy, killedCommands, hung] = [0, 0, 0, 0, 0];
  const active = (kind: Kind) =>
    incidents.find((each) => each.kind === kind && each.from <= scheduler.now && scheduler.now < each.to);
  const done = new Set<Incident<Kind>>();
  /** Whether an incident of this kind is due and affects the next command. */
  const strikes = (kind: Kind) => {
    const found = incidents.find(
      (each) => each.kind === kind && each.from <= scheduler.now && !done.has(each),
    );
    if (found) done.add(found);
    return found !== undefined;
  };

  /** The command: it processes a batch at some moment, or not, and then ends in some way. */
  async function command(batch: Batch, life: SimulatedProcess): Promise<CommandEnd> {
    const ids = batch.rows.map(({ id }) => id);
    judge.attempt(ids);
    const process = () => judge.process(ids);
    const wait = (ms: number) => life.clock.sleep(ms);
    const works = rng.chance(0.5);
    await wait(rng.between(1, 100));
    if (rng.chance(0.3) && strikes('killBusy')) {
      killedBusy++;
      if (works) process();
      life.kill();
      return new Promise(() => {});
    }
    if (rng.chance(0.3) && strikes('killCommand')) {
      killedCommands++;
      if (works) process();
      return { ok: false, why: 'killed by SIGKILL', code: 137 };
    }
    const hang = active('hang');
    if (hang && rng.chance(0.3)) {
      hung++;
      if (works) process();
      // Without a timeout, the command is killed at the end of the incident.
      await wait(timeoutMs ?? hang.to - scheduler.now);
      return { ok: false, why: 'killed by SIGKILL', code: timeoutMs === undefined ? 137 : 124 };
    }
    if (active('fail') && rng.chance(0.7)) {
      if (works) process();
      return { ok: false, why: 'exit code 1', code: 1 };
    }
    process();
    await wait(rng.between(1, 200));
    return { ok: true };
  }

  /** Runs one process until it is killed or ends; returns whether it ended. */
  async function runProcess(): Promise<boolean> {
    starts++;
    const life = driver.openProcess();
    const { clock } = life;
    const feed = createEndlessFeed(seed, scheduler, faults, () => life.alive, { postMs });
    const position = readStart({
      ...{ out: undefined, checkpoint, feed: 'month' },
      ...{ timeField: 'platformCreatedAt', notice() {} },
    });
    judge.start();
    const { deliver } = createDelivery({
      ...{ clock, random: rng.next, notify() {} },
      run: async (batch) => {
        const end = await command(batch, life);
        judge.ended(end.ok || flaw === 'skips', scheduler.now);
        return flaw === 'skips' ? { ok: true } : end;
      },
      deadLetter: ({ rows }) => judge.dead(rows.map(({ id }) => id)),
      ...{ tries: TRIES, forgetful: false },
    });
    const stop = new AbortController();
    const handoff = createHandoff({
      clock,
      encode: () => new Uint8Array(500),
      deliver(batch, signal) {
        batches++;
        return deliver(batch, signal);
      },
      ...{ batch: BATCH, lingerMs: plan.lingerMs, forgetful: false, stop: stop.signal },
    });
    const undo = incidents
      .filter(({ kind, from }) => kind === 'kill' && from > scheduler.now)
      .slice(0, 1)
      .map(({ from }) => scheduler.at(from, life.kill));
    const tail = createTail(
      {
        clock,
        random: rng.next,
        source: feed.source,
        connect: feed.connect,
        sink: {
          write: handoff.write,
          end: handoff.end,
          flush: handoff.flush,
          delivered(onChange) {
            const count = handoff.delivered(onChange);
            return () => (flaw === 'early' ? handoff.written : count());
          },
        },
        spent: () => ({ cu: 0, atMost: 0 }),
        save: async (given) =>
          savePosition(checkpoint, flaw === 'forgets' ? { ...given, verified: given.start, ids: [] } : given),
      },
      {
        ...{ via, lagMs: plan.lagMs, feed: 'month' },
        start: position ? { kind: 'position', position } : { kind: 'now' },
        durationMs: endsAt - scheduler.now,
      },
    );
    const ran: Promise<Summary | undefined> = tail.run(stop.signal);
    ran.catch(() => {});
    let failed = false;
    const summary = await Promise.race([ran, life.killed]).catch((error: unknown) => {
      if (!(error instanceof Failure) || error.kind !== 'service') throw error;
      failed = true;
      return undefined;
    });
    judge.over(scheduler.now);
    for (const spare of undo) spare();
    const ended = life.alive && !failed;
    life.kill();
    if (ended && summary?.gaps.length) judge.problem(`gaps: ${JSON.stringify(summary.gaps)}`);
    return ended;
  }

  const isOver = await driver.run(
    async () => {
      await driver.pause(START_MS);
      for (const { kind, from } of incidents)
        if (kind === 'step') scheduler.at(from, () => (driver.skew = rng.between(-600_000, 600_000)));
      while (!(await runProcess())) await driver.pause(rng.between(1_000, 30_000));
    },
    () => {},
  );
  if (!isOver) judge.problem('everything waits, and nothing will happen');
  if (existsSync(checkpoint) && !readFileSync(checkpoint, 'utf8').endsWith('\n'))
    judge.problem('torn checkpoint');
  const { visibleAt } = createEndlessFeed(seed, scheduler, [], () => false, { postMs });
  const posts = judge.finish(Math.floor(endsAt / postMs), (number) => visibleAt(number) < endsAt - 2_000);
  return {
    problems: judge.problems,
    posts,
    batches,
    ...judge.counts,
    starts,
    killedBusy,
    killedCommands,
    hung,
  };
}
