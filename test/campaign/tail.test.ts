import { renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { idsOf, readText, startTailProgram, until } from '../e2e/feed.ts';
import { openHome } from '../e2e/harness.ts';
import { repeats, timeoutFor } from '../repeats.ts';
import { type Rng, rngOf } from '../sim/rng.ts';
import { type HostileFeed, type HostilePost, startHostileFeed } from './hostile-feed.ts';
import { runSideBySide } from './lanes.ts';

// Runs tails against a service that differs from its description and fails in every possible way, while files are moved
// and processes are killed. CAMPAIGN_RUNS=500 runs longer, SEED=n repeats one run.

const RUNS = repeats('CAMPAIGN_RUNS', 1, 60);
const FIRST = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9));
const SIDE_BY_SIDE = 3;

/** The result of one run. */
interface Outcome {
  readonly seed: number;
  readonly exitCode: number | undefined;
  /** The exit code of the error with which the service ends the run. */
  readonly ends: readonly number[];
  /** The end of a run whose requests were all answered by something else; undefined if there was none. */
  readonly blocked: string | undefined;
  readonly stderr: string;
  /** The content of each file or pipe at the end. */
  readonly texts: readonly string[];
  /** The content of deleted or truncated files; the next file may repeat its lines. */
  readonly removed: readonly string[];
  readonly feed: HostileFeed;
  readonly lastProofAt: number;
}

/** Errors of the service that end a run, and the exit code of each. */
const ends = [
  [503, 'OVERLOADED', 9],
  [503, 'B2B_DISABLED', 9],
  [400, 'BAD_REQUEST', 2],
  [401, 'UNAUTHORIZED', 4],
  [402, 'QUOTA_EXCEEDED', 6],
  [403, 'FORBIDDEN_SCOPE', 5],
  [404, 'NOT_FOUND', 9],
] as const;

/** Moves, replaces or truncates the file of a running tail. */
function move(out: string, dice: Rng, texts: (() => string)[], removed: string[]): void {
  const text = readText(out);
  if (!text.includes('\n')) return;
  const aside = `${out}.${texts.length}`;
  switch (dice.int(4)) {
    case 0:
      renameSync(out, aside);
      texts.push(() => readText(aside));
      return;
    case 1:
      rmSync(out);
      removed.push(text);
      return;
    case 2:
      writeFileSync(`${out}.new`, dice.chance(0.5) ? '' : '{"id":"foreign","platformCreatedAt":1}');
      renameSync(`${out}.new`, out);
      removed.push(text);
      return;
    default:
      truncateSync(out);
      removed.push(text);
  }
}

async function run(seed: number): Promise<Outcome> {
  const dice = rngOf(seed ^ 0x5bd1e995);
  const feed = await startHostileFeed(seed);
  const home = openHome();
  const out = join(home.path, 'out.ndjson');
  const to = dice.pick(['pipe', 'file', 'both'] as const);
  const dies = dice.chance(0.4) ? dice.pick(ends) : undefined;
  const moves = to !== 'pipe' && dice.chance(0.6);
  const kills = to !== 'pipe' && dice.chance(0.4);
  const flags = [
    ...`--via ${dice.pick(['auto', 'ws', 'poll'])} --lag 200ms --yes --timeout 1s --retries 1`.split(
      ' ',
    ),
    ...(to === 'pipe' ? [] : ['--out', out]),
    ...(to === 'both' ? ['--checkpoint', join(home.path, 'tail.json')] : []),
  ];
  const texts: (() => string)[] = [];
  const removed: string[] = [];
  const posting = setInterval(feed.post, 30);
  try {
    let endedAt = 0;
    const start = (duration: string) => {
      const started = startTailProgram([...flags, '--duration', duration], { sandbox: feed, home });
      // On a busy machine, the tail may end before this test stops the faults.
      void started.child.then(() => {
        endedAt = Date.now();
      });
      return started;
    };
    // Before its first answer from the service, a run ends, and says what came.
    let blocked: string | undefined;
    if (dice.chance(0.3)) {
      feed.blocked = true;
      const stopped = start('6s');
      const { exitCode } = await stopped.child;
      blocked = `exit ${exitCode}: ${stopped.stderr}`;
      feed.blocked = false;
    }
    let tail = start('6s');
    await until(() => feed.before.size > 0);
    feed.faultRate = 1;
    const end = Date.now() + 3_000;
    while (Date.now() < end) {
      await delay(200 + dice.int(600));
      if (moves && dice.chance(0.4)) move(out, dice, texts, removed);
      if (!kills || !dice.chance(0.3) || !readText(out).includes('\n')) continue;
      tail.child.kill('SIGKILL');
      await tail.child;
      tail = start('5s');
    }
    feed.faultRate = 0;
    feed.die(dies && [dies[0], dies[1]]);
    const { exitCode, stdout } = await tail.child;
    let { stderr } = tail;
    // What was not read when the service died is in a reported gap, or the next run to the same file reads it.
    if (dies && to !== 'pipe') {
      feed.die(undefined);
      const next = start('2s');
      stderr += `exit ${exitCode}; the next run exits ${(await next.child).exitCode}\n${next.stderr}`;
    }
    if (to === 'pipe') texts.push(() => stdout);
    else texts.push(() => readText(out));
    const lastProofAt = Math.min(endedAt - 1_500, completeTo(stderr));
    return {
      seed,
      exitCode,
      ends: dies ? [dies[2]] : [],
      blocked,
      stderr,
      texts: texts.map((text) => text()),
      removed,
      feed,
      lastProofAt,
    };
  } finally {
    clearInterval(posting);
    await feed.close();
  }
}

/** Up to when the last run states that the feed is complete; Infinity if it states nothing. */
const completeTo = (stderr: string): number => {
  const [, time] = [...stderr.matchAll(/; complete up to (\S+Z)$/gm)].at(-1) ?? [];
  return time === undefined ? Number.POSITIVE_INFINITY : Date.parse(time);
};

const BLOCKED =
  /^exit 9: .*"message":"(?:received HTTP \d+, probably from|[\w.:]+ redirects to|cannot read the answer of)|^exit 7: .*HTTP_429/s;
const GAP = /posts may be missing (?:between|from) (.*?) (?:and|to) (.*?)(?:: |$)/gm;
const UNKNOWN = /starting like a new run; whether older posts are missing is not known/;
const LATE = /(?:also posts since|late may be missing between) (\S+Z)/g;
const idIn = (text: string): string | undefined => /\(([^)]*)\)/.exec(text)?.[1];

/** Where the lines before a position were removed, the next run says that it begins like a new one. */
const isNew = ({ stderr, removed }: Outcome): boolean => removed.length > 0 && UNKNOWN.test(stderr);

/** Whether a post is inside a gap that was reported, or appeared late and was reported as such. */
function inGap(outcome: Outcome, post: HostilePost): boolean {
  const { stderr, feed } = outcome;
  if (isNew(outcome)) return true;
  const timeOf = (text: string) => feed.posts.find(({ id }) => id === idIn(text))?.at;
  const isLate = post.visibleAt > post.at;
  if (isLate && [...stderr.matchAll(LATE)].some(([, since = '']) => Date.parse(since) <= post.at))
    return true;
  return [...stderr.matchAll(GAP)].some(([, from = '', to = '']) => {
    const low = timeOf(from) ?? Number.NEGATIVE_INFINITY;
    const high = timeOf(to) ?? Number.POSITIVE_INFINITY;
    return low <= post.at && post.at <= high;
  });
}

function problemsOf(outcome: Outcome): string[] {
  const { exitCode, stderr, texts, removed, feed, lastProofAt } = outcome;
  const problems: string[] = [];
  if (outcome.blocked !== undefined && !BLOCKED.test(outcome.blocked))
    problems.push(outcome.blocked);
  if (exitCode === undefined || ![0, 7, 9, ...outcome.ends].includes(exitCode))
    problems.push(`exit ${exitCode}`);
  if (/BUG|\n\s+at |undefined|\[object|NaN/.test(stderr))
    problems.push('stderr contains a stack trace or an internal error');
  if (stderr.split('\n').length > 120)
    problems.push(`${stderr.split('\n').length} lines on stderr`);

  const emitted = texts.map((text) => idsOf(text).filter((id) => id !== 'foreign'));
  for (const ids of emitted) {
    const twice = ids.filter((id, i) => ids.indexOf(id) !== i);
    if (twice.length > 0) problems.push(`duplicates in one output: ${twice}`);
  }
  const lines = emitted.flat();
  const twice = [...new Set(lines.filter((id, i) => lines.indexOf(id) !== i))];
  if (removed.length === 0 && twice.length > 0) problems.push(`twice: ${twice}`);

  const have = new Set([...lines, ...removed.flatMap((text) => idsOf(text))]);
  // A slow first page may be requested again, so only the first printed post shows when the run started. A post that
  // appeared late shows nothing: it is printed even if it is dated before the start.
  const inTime = feed.posts.filter(
    ({ id, old, at, visibleAt }) => have.has(id) && !old && visibleAt <= at,
  );
  const start = Math.min(...inTime.map(({ at }) => at));
  const missing = feed.posts.filter(
    ({ id, at, nameless, old, visibleAt }) =>
      at > start && !have.has(id) && !nameless && !old && visibleAt < lastProofAt,
  );
  // A run that begins like a new one misses nothing of its own.
  if (missing.length > 0 && exitCode === 0 && !isNew(outcome)) problems.push('exit 0');
  const unreported = missing.filter((post) => !inGap(outcome, post));
  if (unreported.length > 0)
    problems.push(`missing: ${unreported.map(({ id, at }) => `${id} (${at})`)}`);
  return problems;
}

test(
  `${RUNS} tails of a hostile service report every loss and print nothing twice`,
  timeoutFor(RUNS),
  async () => {
    process.stderr.write(`campaign: SEED=${FIRST}, ${RUNS} runs\n`);
    const failed: string[] = [];
    await runSideBySide([FIRST, RUNS], SIDE_BY_SIDE, async (seed) => {
      const outcome = await run(seed);
      const problems = problemsOf(outcome);
      if (problems.length > 0)
        failed.push(`SEED=${seed}\n${problems.join('\n')}\n${outcome.stderr}`);
    });
    expect(failed).toEqual([]);
  },
);
