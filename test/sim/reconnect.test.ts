import { expect, test } from 'vitest';
import { simulate } from './run.ts';
import { type Fault, type Schedule, scheduleOf, uneventful } from './schedule.ts';

/** Four minutes in which each page takes longer than the lag. */
const slowPages = (seed: number, faults: readonly Fault[]): Schedule => ({
  ...scheduleOf(seed),
  ...uneventful,
  ...{ behindMs: 0, ceiling: null, units: null, lagMs: 2_000, rate: 0.5, busyMs: 240_000 },
  faults: [{ kind: 'slow', p: 1, from: 0, to: 1e12 }, ...faults],
});

/** The number of connections of each run. */
async function connections(faults: readonly Fault[]): Promise<readonly number[]> {
  const made: number[] = [];
  const schedules = Array.from({ length: 10 }, (_, seed) => slowPages(seed, faults));
  const failed = await simulate(schedules, undefined, 1, ({ processes }) => {
    made.push(processes[0]?.summary?.connections ?? 0);
  });
  expect(failed).toEqual([]);
  return made;
}

test('connects although each walk takes longer than the lag', async () => {
  expect(new Set(await connections([]))).toEqual(new Set([1]));
});

test('connects again although each walk takes longer than the lag', async () => {
  const reset: Fault = { kind: 'reset', from: 100_000, to: 100_000 };
  expect(new Set(await connections([reset]))).toEqual(new Set([2]));
});
