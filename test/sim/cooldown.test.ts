import { expect, test } from 'vitest';
import { repeats, timeoutFor } from '../repeats.ts';
import { countsFromArrival, forgetsWindow, stretchesTime } from './mutants.ts';
import { rngOf } from './rng.ts';
import { simulate } from './run.ts';
import { type Schedule, scheduleOf } from './schedule.ts';

const COUNT = repeats('SIM_SEEDS', 4, 2_000);

/** A schedule in which several posts come within the time, and processes are killed. */
function cooled(seed: number): Schedule {
  const base = scheduleOf(seed);
  const rng = rngOf(seed, 77);
  const withinMs = Math.round((3_000 / base.rate) * rng.between(0.5, 8));
  return {
    ...base,
    cooldown: { field: 'tokenSymbol', withinMs },
    // A post that is dated far back comes after the time was forgotten with which it collides.
    ...{ old: 0, odd: 0, timeless: false, position: base.position === 'old' ? 'old' : 'last' },
  };
}

const schedules = Array.from({ length: COUNT }, (_, seed) => cooled(seed));

test(
  'prints nothing twice within the time, over kills, and loses nothing that may be printed',
  timeoutFor(COUNT),
  async () => {
    let records = 0;
    let kills = 0;
    const failed = await simulate(schedules, undefined, 1, ({ disk, processes }) => {
      records += disk.lines.length;
      kills += processes.filter(({ killed }) => killed).length;
    });
    expect(failed).toEqual([]);
    expect(records).toBeGreaterThan(3 * COUNT);
    expect(kills).toBeGreaterThan(COUNT / 5);
  },
);

test.each([
  ['the position has no printed times', forgetsWindow],
  ['it lasts longer', stretchesTime(0.5)],
  ['it ends sooner', stretchesTime(1.5)],
  ['a post counts from when it arrives', countsFromArrival],
])('a cooldown is wrong if %s', async (_, mutation) => {
  expect(await simulate(schedules, mutation, 1)).not.toEqual([]);
});
