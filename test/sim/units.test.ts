import { expect, test } from 'vitest';
import type { Position } from '../../src/tail/position.ts';
import { judge } from './judge.ts';
import { calm, type Schedule } from './schedule.ts';
import { runSchedule } from './world.ts';

const HOURS = 1;

/** Hours without faults. */
const hours = (given: Partial<Schedule>) =>
  calm(1, { busyMs: HOURS * 3_600_000, rate: 0.2, ...given });

/** The cost of the pages per minute, what was stated of it, and the maximum number of remembered ids. */
async function run(schedule: Schedule) {
  let known = 0;
  const outcome = await runSchedule(schedule, {
    world(world) {
      const { save } = world.output;
      const counting = async (position: Position) => {
        known = Math.max(known, position.ids.length);
        await save?.(position);
      };
      return { ...world, output: { ...world.output, save: save && counting } };
    },
  });
  expect(judge(outcome)).toEqual([]);
  const { processes, endsAt } = outcome;
  const [process] = processes;
  return {
    perMinute: (process?.access.meter.pages ?? 0) / (endsAt / 60_000),
    stated: process?.perMinute ?? 0,
    known,
    rows: process?.summary?.rows ?? 0,
  };
}

test.each<[string, Partial<Schedule>, number, number]>([
  ['verifying the socket, at most 3 % of its price', { rate: 0.05 }, 0, 300],
  ['the same, with more posts', {}, 0, 600],
  ['polls as stated, plus one deep poll per minute', { via: 'poll', rate: 0.1 }, 1_190, 1_500],
  ['polls with a longer lag', { via: 'poll', rate: 0.1, lagMs: 30_000 }, 0, 650],
  ['one page for each poll of a slow feed', { via: 'poll', rate: 0.02, lagMs: 60_000 }, 0, 230],
  ['one page for each poll of a feed without posts', { via: 'poll', rate: 1e-12 }, 1_190, 1_215],
  ['10 CU for each poll of callouts', { via: 'poll', feed: 'callout', rate: 0.02 }, 0, 65],
])('pages cost, per minute: %s', async (_, given, least, most) => {
  const { perMinute } = await run(hours(given));
  expect(perMinute).toBeGreaterThan(least);
  expect(perMinute).toBeLessThan(most);
});

test.each<[number, number, Partial<Schedule>]>([
  [0.1, 10_000, {}],
  [0.5, 10_000, {}],
  [1.3, 10_000, {}],
  [1.3, 30_000, {}],
  [2, 60_000, {}],
  [2, 20_000, { feed: 'callout' }],
])('polls cost what is stated: %d posts a second, every %d ms %o', async (rate, lagMs, given) => {
  const { perMinute, stated } = await run(hours({ via: 'poll', rate, lagMs, ...given }));
  expect(perMinute / stated).toBeGreaterThan(0.8);
  expect(perMinute / stated).toBeLessThan(1.25);
});

test('while no connection can be opened, pages cost as much as polls', async () => {
  const faults = [{ kind: 'refuse', status: 503, from: 0, to: 1e12 }] as const;
  const given = { rate: 0.5, busyMs: 1_800_000 };
  const polls = await run(hours({ ...given, via: 'poll' }));
  const outage = await run(hours({ ...given, faults }));
  expect(outage.perMinute).toBeLessThan(1.1 * polls.perMinute);
  expect(outage.rows).toBeGreaterThan(700);
});

test('the number of remembered ids does not grow with time', async () => {
  const { known, rows } = await run(hours({ resume: 'checkpoint', rate: 0.5 }));
  expect(rows).toBeGreaterThan(1_500);
  expect(known).toBeLessThan(200);
});
