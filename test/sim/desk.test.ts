import { expect, test } from 'vitest';
import { seeds, simulate } from './run.ts';
import { scheduleOf } from './schedule.ts';

/** The number of schedules; `SIM_SEEDS=1000000` runs more, `SEED=n` repeats one. */
const SEEDS = Number(process.env['SIM_SEEDS'] ?? 500);
const one = process.env['SEED'];

test('with any faults, every post of several authors is written exactly once, also from their own pages', {
  timeout: Math.max(600_000, SEEDS * 60),
}, async () => {
  const schedules = one === undefined ? [...seeds(0, SEEDS)] : [scheduleOf(Number(one))];
  const [failed] = await simulate(schedules.map((each) => ({ ...each, desk: true })));
  expect(failed?.problems.slice(0, 10) ?? [], `SEED=${failed?.schedule.seed}`).toEqual([]);
});
