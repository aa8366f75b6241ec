import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runExecMonth } from './month/exec.ts';
import { runMonth } from './month/run.ts';

/** `SIM_DAYS=30` simulates a month; `SEED=n` repeats a run. */
/** With `SIM_CALM=1`, there are no faults or kills: a single process runs, and its memory must not grow. */
const calm = process.env['SIM_CALM'] === '1';
const days = Number(process.env['SIM_DAYS'] ?? 0);
const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const HOUR = 3_600_000;
/** The time between two posts. */
const postMs = days > 0 ? 10_000 : 1_000;
const MB = 2 ** 20;

function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'trdr-month-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const report = (outcome: object) => `SEED=${seed} ${JSON.stringify(outcome)}`;
const print = (what: string, outcome: object) => {
  if (days > 0 || process.env['SIM_PRINT'] === '1')
    process.stdout.write(`${what}, ${days} days: ${report(outcome)}\n`);
};

test.each([
  ['polls', 'poll', 60_000, { everyMs: days > 0 ? 6 * HOUR : HOUR / 6 }],
  ['streams', 'ws', 10_000, { bytes: days > 0 ? 50_000 : 20_000 }],
] as const)(
  'a tail that %s for long, through faults, kills, clock steps and rotation, loses and repeats nothing',
  async (what, via, lagMs, rotate) => {
    const lengthMs = days > 0 ? days * 24 * HOUR : via === 'ws' ? HOUR / 2 : 1.5 * HOUR;
    const memory: number[] = [];
    const outcome = await runMonth({
      ...{ seed, via, lagMs, postMs, rotate, lengthMs, folder: openFolder() },
      troubleMs: calm ? Number.POSITIVE_INFINITY : days > 0 ? 6 * HOUR : lengthMs / 5,
      retentionMs: days > 0 ? HOUR / 2 : HOUR / 6,
      onTenth: (bytes) => memory.push(Math.round(bytes / MB)),
    });
    print(what, { ...outcome, memory });
    expect(outcome.problems, report(outcome)).toEqual([]);
    expect(outcome.posts + outcome.lost, report(outcome)).toBeGreaterThan((lengthMs - 200_000) / postMs);
    if (!calm) expect(outcome.starts, report(outcome)).toBeGreaterThan(2);
    expect(outcome.files, report(outcome)).toBeGreaterThan(2);
  },
  3 * HOUR,
);

const handoffs = [
  [
    'polls, with a command that has a timeout',
    { via: 'poll', lagMs: 60_000, lingerMs: 1_000, timeoutMs: 30_000 },
  ],
  [
    'streams, with a command that can hang',
    { via: 'ws', lagMs: 10_000, lingerMs: 10_000, timeoutMs: undefined },
  ],
] as const;

test.each(handoffs)(
  'a tail that %s, hands over every post for long, and repeats only the batch that was not acknowledged',
  async (what, handoff) => {
    const lengthMs = days > 0 ? days * 24 * HOUR : 1.2 * HOUR;
    const troubleMs = days > 0 ? 3 * HOUR : lengthMs / 10;
    const outcome = await runExecMonth({
      ...handoff,
      seed,
      postMs,
      lengthMs,
      troubleMs,
      folder: openFolder(),
    });
    print(what, outcome);
    expect(outcome.problems, report(outcome)).toEqual([]);
    expect(outcome.posts, report(outcome)).toBeGreaterThan((lengthMs - 200_000) / postMs);
    const { killedBusy, killedCommands, repeated } = outcome;
    expect(Math.min(killedBusy, killedCommands, repeated), report(outcome)).toBeGreaterThan(0);
  },
  3 * HOUR,
);

test.each(['forgets', 'skips', 'early'] as const)(
  'the judge of a handoff notices a missing safeguard: %s',
  async (flaw) => {
    const [, handoff] = handoffs[0];
    const plan = { ...handoff, seed, postMs: 1_000, lengthMs: HOUR, troubleMs: HOUR / 12, flaw };
    const { problems } = await runExecMonth({ ...plan, folder: openFolder() });
    expect(problems, `SEED=${seed}`).not.toEqual([]);
  },
);
