import { expect, test } from 'vitest';
import { judge } from './judge.ts';
import { type Schedule, scheduleOf, uneventful } from './schedule.ts';
import { createSimulation } from './world.ts';

const HOURS = 3;

/** Hours in which nothing goes wrong. */
const calm = (given: Partial<Schedule>): Schedule => ({
  ...scheduleOf(1),
  ...uneventful,
  ...{ faults: [], behindMs: 0 },
  ...{ ceiling: null, units: null, lagMs: 10_000, busyMs: HOURS * 3_600_000, rate: 0.2 },
  ...given,
});

/** What the pages of a run cost a minute, and how much the tail remembered at most. */
async function run(schedule: Schedule): Promise<{ perMinute: number; known: number; rows: number }> {
  let known = 0;
  const simulation = createSimulation(schedule, {
    world: (world) => ({
      ...world,
      save:
        world.save &&
        (async (text) => {
          known = Math.max(known, JSON.parse(text).known.length);
          await world.save?.(text);
        }),
    }),
  });
  do await new Promise(setImmediate);
  while (simulation.step());
  expect(judge(simulation.outcome)).toEqual([]);
  const { processes, endsAt } = simulation.outcome;
  const [process] = processes;
  return {
    perMinute: (process?.access.meter.pages ?? 0) / (endsAt / 60_000),
    known,
    rows: process?.summary?.rows ?? 0,
  };
}

test('to prove what the socket brings costs a few hundredths of its price', { timeout: 60_000 }, async () => {
  expect((await run(calm({ rate: 0.05 }))).perMinute).toBeLessThan(300);
  expect((await run(calm({}))).perMinute).toBeLessThan(600);
});

test('polls cost what is stated, and a deep one a minute more', { timeout: 60_000 }, async () => {
  const { perMinute } = await run(calm({ via: 'poll', rate: 0.1 }));
  expect(perMinute).toBeGreaterThan(1_190);
  expect(perMinute).toBeLessThan(1_500);
  expect((await run(calm({ via: 'poll', rate: 0.1, lagMs: 30_000 }))).perMinute).toBeLessThan(650);
});

test('polls of a feed of one block cost no second page', { timeout: 60_000 }, async () => {
  expect((await run(calm({ via: 'poll', rate: 0.02, lagMs: 60_000 }))).perMinute).toBeLessThan(230);
});

test('callouts cost 10 CU a poll', { timeout: 60_000 }, async () => {
  expect((await run(calm({ via: 'poll', feed: 'callout', rate: 0.02 }))).perMinute).toBeLessThan(65);
});

test('what is remembered does not grow with the hours', { timeout: 60_000 }, async () => {
  const { known, rows } = await run(calm({ resume: 'checkpoint', rate: 0.5 }));
  expect(rows).toBeGreaterThan(4_000);
  expect(known).toBeLessThan(200);
});
