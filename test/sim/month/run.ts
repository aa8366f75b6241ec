import { readFileSync, renameSync, rmSync, statSync, truncateSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Failure } from '../../../src/base/failure.ts';
import { createCompressor } from '../../../src/cli/tail/compress.ts';
import { openFollowed } from '../../../src/cli/tail/followed-file.ts';
import { positionPath } from '../../../src/cli/tail/position.ts';
import { readResume } from '../../../src/cli/tail/resume.ts';
import { finishedFiles, type RotateRule } from '../../../src/cli/tail/rotation.ts';
import { createSaver } from '../../../src/cli/tail/saver.ts';
import { createTail } from '../../../src/tail/engine.ts';
import type { Summary } from '../../../src/tail/notice.ts';
import { EPOCH } from '../posts.ts';
import { rngOf } from '../rng.ts';
import { clockOn, createScheduler } from '../scheduler.ts';
import { createEndlessFeed, numberOf, type Trouble } from './feed.ts';

export interface MonthPlan {
  readonly seed: number;
  readonly lengthMs: number;
  readonly via: 'ws' | 'poll';
  readonly lagMs: number;
  readonly rotate: RotateRule;
  /** The mean time between two events of each kind. */
  readonly troubleMs: number;
  /** Where the files are; the names of finished files are given to `onFile` before old ones are removed. */
  readonly folder: string;
  /** Called with the resident memory at each tenth of the run. */
  readonly onTenth?: ((bytes: number) => void) | undefined;
}

export interface MonthOutcome {
  readonly problems: readonly string[];
  readonly posts: number;
  readonly files: number;
  readonly starts: number;
  readonly pages: number;
}

const START_MS = 600_000;
const SECOND = 1_000;
const kinds = ['pages', 'lose', 'double', 'close', 'kill', 'step', 'rename'] as const;
type Kind = (typeof kinds)[number];

interface Incident {
  readonly kind: Kind;
  readonly from: number;
  readonly to: number;
}

/** What happens, one of each kind now and then. The last minutes are calm, so that all can be read. */
function incidentsOf({ seed, lengthMs, troubleMs }: MonthPlan): Incident[] {
  const rng = rngOf(seed, 7);
  const incidents: Incident[] = [];
  for (const kind of kinds) {
    for (let from = START_MS; ; ) {
      from += rng.between(0.5, 1.5) * troubleMs;
      if (from > START_MS + lengthMs - 400_000) break;
      const length = kind === 'pages' ? rng.between(1_000, 200_000) : rng.between(500, 60_000);
      incidents.push({ kind, from, to: from + length });
    }
  }
  return incidents.sort((a, b) => a.from - b.from);
}

const isTrouble = (incident: Incident): incident is Incident & Trouble =>
  incident.kind !== 'kill' && incident.kind !== 'step' && incident.kind !== 'rename';

/** Runs a tail with its real files through virtual time, and checks that each post is in them exactly once. */
export async function runMonth(plan: MonthPlan): Promise<MonthOutcome> {
  const { seed, lengthMs, via, folder, rotate } = plan;
  const scheduler = createScheduler();
  const rng = rngOf(seed, 8);
  const incidents = incidentsOf(plan);
  const troubles = incidents.filter(isTrouble);
  const out = join(folder, 'theses.ndjson');
  const position = positionPath(join(folder, 'state'), out);
  const endsAt = START_MS + lengthMs;
  const tally = createTally();
  let skew = 0;
  let pages = 0;
  let starts = 0;
  let files = 0;
  let over = false;
  let failure: unknown;
  // Real work on files: virtual time stands still meanwhile.
  let pending = 0;
  const track = <T>(work: Promise<T>): Promise<T> => {
    pending++;
    return work.finally(() => {
      pending--;
    });
  };

  /** Takes the oldest finished files out of the folder once they have been counted. */
  const sweep = (most: number) => {
    for (const { path } of finishedFiles(out).slice(most)) {
      tally.add(path);
      files++;
      rmSync(path);
    }
  };

  /** One process, from its start to its kill or its end; true at the end. */
  async function runProcess(): Promise<boolean> {
    starts++;
    let alive = true;
    let die = () => {};
    const killed = new Promise<undefined>((resolve) => {
      die = () => {
        alive = false;
        resolve(undefined);
      };
    });
    const clock = clockOn(
      scheduler,
      () => EPOCH + skew,
      () => alive,
    );
    const feed = createEndlessFeed(seed, scheduler, troubles, () => alive);
    const resume = await track(
      readResume({
        ...{ out, rotates: true, checkpoint: undefined, position, feed: 'month' },
        ...{ timeField: 'platformCreatedAt', now: clock.now(), notice() {} },
      }),
    );
    const compressor = createCompressor(out, new AbortController().signal, (text) => {
      failure ??= new Error(text);
    });
    const file = await track(
      openFollowed(out, {
        mono: clock.mono,
        now: clock.now,
        rotate: { rule: rotate, timeField: 'platformCreatedAt' },
        moved(how) {
          saver.moved();
          if (how !== 'finished') return;
          compressor.start();
          void track(compressor.settled()).then(() => sweep(6));
        },
      }),
    );
    const saver = createSaver({
      ...{ checkpoint: undefined, out, position, identity: () => file.identity, notice() {} },
    });
    const check = () => {
      if (!alive) return;
      void track(file.check());
      scheduler.at(scheduler.now + 5 * SECOND, check);
    };
    check();
    let safe = { ino: '', size: 0 };
    const kills = incidents.filter(({ kind, from }) => kind === 'kill' && from > scheduler.now);
    const undo = kills.slice(0, 1).map(({ from }) => scheduler.at(from, die));
    const tail = createTail(
      {
        clock,
        random: rng.next,
        source: feed.source,
        connect: feed.connect,
        sink: {
          write(rows) {
            for (const { raw, record } of rows) {
              const text = raw === null ? JSON.stringify(record) : Buffer.from(raw).toString();
              void file.sink.write(`${text}\n`);
            }
            return track(file.sink.flush().then(() => true));
          },
          flush: () =>
            track(
              file.sink.flush().then(() => {
                safe = { ino: file.identity.ino, size: statSync(out, { throwIfNoEntry: false })?.size ?? 0 };
                return true;
              }),
            ),
        },
        save: async (text) => saver.save(text),
      },
      {
        ...{ via, lagMs: plan.lagMs, feed: 'month', fileIsCheckpoint: true },
        start: resume ?? { kind: 'now' },
        durationMs: endsAt - scheduler.now,
      },
    );
    const ran: Promise<Summary | undefined> = tail.run(new AbortController().signal);
    ran.catch(() => {});
    let failed = false;
    const summary = await Promise.race([ran, killed]).catch((error: unknown) => {
      // The first pages of a run fail: a service manager starts it again.
      if (!(error instanceof Failure) || error.kind !== 'service') throw error;
      failed = true;
      return undefined;
    });
    for (const spare of undo) spare();
    pages += feed.pages;
    const ended = alive;
    alive = false;
    await track(file.sink.abandon());
    await track(compressor.settled());
    if (failed) return false;
    if (ended) {
      saver.ended();
      if (summary?.gaps.length) tally.problem(`gaps: ${JSON.stringify(summary.gaps)}`);
      return true;
    }
    // A power cut tears what was written last, unless that was made durable.
    const there = statSync(out, { throwIfNoEntry: false });
    if (!there) return false;
    const { size, ino } = there;
    const text = readFileSync(out, 'utf8');
    const lineStart = text.lastIndexOf('\n', text.length - 2) + 1;
    const isSafe = safe.ino === String(ino) && lineStart < safe.size;
    if (size > 0 && !isSafe && rng.chance(0.5))
      truncateSync(out, lineStart + 1 + rng.int(text.length - lineStart - 1));
    return false;
  }

  async function supervise(): Promise<void> {
    await new Promise<void>((resolve) => scheduler.at(START_MS, resolve));
    for (const { kind, from } of incidents) {
      if (kind === 'step') scheduler.at(from, () => (skew = rng.between(-600_000, 600_000)));
      if (kind === 'rename') scheduler.at(from, () => renameSync(out, `${out}.${Math.round(from)}`));
    }
    while (!(await runProcess()))
      await new Promise<void>((resolve) => scheduler.at(scheduler.now + 30_000, resolve));
  }

  supervise().then(
    () => {
      over = true;
    },
    (error: unknown) => {
      failure ??= error;
      over = true;
    },
  );
  let tenth = 1;
  for (;;) {
    do await new Promise(setImmediate);
    while (pending > 0);
    if (over || failure || !scheduler.step()) break;
    if (plan.onTenth && scheduler.now > START_MS + (tenth * lengthMs) / 10) {
      tenth++;
      plan.onTenth(process.memoryUsage.rss());
    }
  }
  if (failure) throw failure;
  if (!over) tally.problem('everything waits, and nothing will happen');
  sweep(0);
  for (const { kind, from } of incidents)
    if (kind === 'rename') tally.addIfThere(`${out}.${Math.round(from)}`);
  tally.addIfThere(out);
  const feed = createEndlessFeed(seed, scheduler, [], () => false);
  const posts = tally.judge(Math.floor(endsAt / SECOND), (number) => feed.visibleAt(number) < endsAt - 2_000);
  return { problems: tally.problems, posts, files, starts, pages };
}

/** Counts how often each post is in the files, in a byte for each second. */
function createTally() {
  let counts = new Uint8Array(1_024);
  const problems: string[] = [];
  const problem = (text: string) => {
    if (problems.length < 10) problems.push(text);
  };
  const add = (path: string, isAway = false) => {
    const bytes = readFileSync(path);
    const text = path.endsWith('.gz') ? gunzipSync(bytes).toString() : bytes.toString();
    if (!isAway && text !== '' && !text.endsWith('\n')) problem(`${basename(path)} ends in a torn line`);
    // A torn line in a file that was renamed before the next run could repair it is written again.
    for (const line of text.slice(0, text.lastIndexOf('\n') + 1).split('\n')) {
      if (line === '') continue;
      const number = numberOf(JSON.parse(line).id);
      while (number >= counts.length) {
        const more = new Uint8Array(counts.length * 2);
        more.set(counts);
        counts = more;
      }
      counts[number] = Math.min(255, (counts[number] ?? 0) + 1);
    }
  };
  return {
    problems,
    problem,
    add,
    addIfThere(path: string) {
      if (statSync(path, { throwIfNoEntry: false })) add(path, true);
    },
    /** Each post since the first one that was printed has to be there once. */
    judge(end: number, isWanted: (number: number) => boolean): number {
      const first = counts.findIndex((count) => count > 0);
      let posts = 0;
      for (let number = Math.max(0, first); number < end; number++) {
        const count = counts[number] ?? 0;
        posts += count;
        if (count > 1) problem(`post ${number} is there ${count} times`);
        // What is dated before the start and appears later is not wanted.
        if (count === 0 && number > first + 120 && isWanted(number)) problem(`post ${number} is missing`);
      }
      return posts;
    },
  };
}
