import { expect, test } from 'vitest';
import { repeats, timeoutFor } from '../repeats.ts';
import { countsAuthorsTwice, dropsLateRows, forgetsWindow } from './mutants.ts';
import { rngOf } from './rng.ts';
import { simulate } from './run.ts';
import { type Schedule, scheduleOf } from './schedule.ts';

const COUNT = repeats('SIM_SEEDS', 15, 2_000);

/** A schedule whose posts often make a confluence. */
function confluent(seed: number): Schedule {
  const base = scheduleOf(seed);
  const rng = rngOf(seed, 76);
  const authors = rng.pick([2, 3, 4]);
  const withinMs = Math.round((authors / base.rate) * 1_000 * rng.between(0.5, 3));
  return {
    ...base,
    rule: { authors, withinMs },
    // A post that is dated far back comes after its confluence was forgotten.
    ...{ old: 0, odd: 0, timeless: false, position: base.position === 'old' ? 'old' : 'last' },
  };
}

const schedules = Array.from({ length: COUNT }, (_, seed) => confluent(seed));

test(
  'prints each confluence, in versions that grow, and none twice',
  timeoutFor(COUNT),
  async () => {
    let records = 0;
    const failed = await simulate(schedules, undefined, 1, ({ disk }) => {
      records += disk.lines.length;
    });
    expect(failed).toEqual([]);
    expect(records).toBeGreaterThan(COUNT);
  },
);

test.each([
  ['the position has no window', forgetsWindow],
  ['a late post is not counted', dropsLateRows],
  ['an author counts twice', countsAuthorsTwice],
])('a confluence is wrong if %s', async (_, mutation) => {
  expect(await simulate(schedules, mutation, 1)).not.toEqual([]);
});
