import { expect, test } from 'vitest';
import { openFolder } from '../folder.ts';
import { repeats, SEED } from '../repeats.ts';
import { runMonth } from './month/run.ts';

/** `SIM_DAYS=30` simulates a month; `SEED=n` repeats a run. */
const days = repeats('SIM_DAYS', 0, 30);
const HOUR = 3_600_000;
/** The time between two posts. */
const postMs = days > 0 ? 10_000 : 2_000;

test.each([
  ['polls', 'poll', 60_000, { everyMs: days > 0 ? 6 * HOUR : HOUR / 6 }],
  ['streams', 'ws', 10_000, { bytes: days > 0 ? 50_000 : 10_000 }],
] as const)(
  'a tail that %s for long, through faults, kills, clock steps and rotation, loses and repeats nothing',
  async (what, via, lagMs, rotate) => {
    const lengthMs = days > 0 ? days * 24 * HOUR : via === 'ws' ? HOUR / 2 : 1.5 * HOUR;
    const outcome = await runMonth({
      ...{ seed: SEED, via, lagMs, postMs, rotate, lengthMs, folder: openFolder() },
      troubleMs: days > 0 ? 6 * HOUR : lengthMs / 5,
      retentionMs: days > 0 ? HOUR / 2 : HOUR / 6,
    });
    const report = `SEED=${SEED} ${JSON.stringify(outcome)}`;
    if (days > 0) process.stdout.write(`${what}, ${days} days: ${report}\n`);
    expect(outcome.problems, report).toEqual([]);
    expect(outcome.posts + outcome.lost, report).toBeGreaterThan(
      ((lengthMs - 200_000) / postMs) * 0.9,
    );
    expect(outcome.starts, report).toBeGreaterThan(2);
    expect(outcome.files, report).toBeGreaterThan(2);
  },
  3 * HOUR,
);
