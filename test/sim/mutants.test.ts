import { expect, test } from 'vitest';
import {
  believesTheLastPage,
  doesNotConfirm,
  doesNotWait,
  dropsLateFrames,
  looksAQuarterMinute,
  remembersByCount,
  savesFirst,
  snapshotsFirst,
  stopsAtKnownId,
  withoutAudits,
} from './mutants.ts';
import { rngOf } from './rng.ts';
import { seeds, simulate } from './run.ts';
import { type Schedule, scheduleOf, uneventful } from './schedule.ts';
import { above } from './service.ts';
import { createSimulation, type Mutation } from './world.ts';

/** Seeds in which every mutant has to fail at least once. */
const SEEDS = 600;

test.each([
  ['walks end at the first known id', stopsAtKnownId],
  ['ids are remembered by number', remembersByCount],
  ['checkpoints are written before the flush', savesFirst],
  ['late posts are looked for over 15 s only', looksAQuarterMinute],
  ['frames from before the margin are dropped', dropsLateFrames],
  ['a page that says it is the last is believed', believesTheLastPage],
])('the promise breaks where %s', { timeout: 120_000 }, async (_, mutation) => {
  expect(await simulate(seeds(0, SEEDS), mutation, 1)).not.toEqual([]);
});

/** Connections that break again and again, and nothing else that could go wrong. */
function breaking(seed: number, behindMs: number): Schedule {
  const rng = rngOf(seed, 77);
  const busyMs = 120_000;
  const faults = Array.from({ length: 4 }, (_, i) => {
    const from = 25_000 * (i + 1) * rng.between(0.9, 1.1);
    return { kind: rng.pick(['reset', 'close'] as const), from, to: from + 1 };
  });
  const rest = { behindMs, busyMs, faults, rate: 1, ceiling: null, units: null, lagMs: 10_000 };
  return { ...scheduleOf(seed), ...uneventful, ...rest };
}

/** Posts that were out by the end of the run, though nothing audited it, and those that were not. */
async function missing(schedule: Schedule, mutation: Mutation): Promise<number> {
  const simulation = createSimulation(schedule, withoutAudits(mutation));
  do await new Promise(setImmediate);
  while (simulation.step());
  const { service, processes, disk, endsAt } = simulation.outcome;
  const start = processes[0]?.access.first;
  const top = start?.top;
  const owed = service.posts.filter(
    (post) => top && above(post, top) && !start.held.has(post.id) && post.visibleAt < endsAt - 30_000,
  );
  const out = new Set(
    disk.text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).id),
  );
  return owed.filter(({ id }) => !out.has(id)).length;
}

async function missingIn(runs: number, behindMs: number, mutation: Mutation): Promise<number> {
  let sum = 0;
  for (let seed = 0; seed < runs; seed++) sum += await missing(breaking(seed, behindMs), mutation);
  return sum;
}

const alone: Mutation = {
  options: (options) => ({ ...options, timing: { confirmMs: [], ...options.timing } }),
};
const both = (one: Mutation): Mutation => ({ ...alone, ...one });

test('a walk that begins after the confirmed subscription misses nothing', async () => {
  expect(await missingIn(20, 0, alone)).toBe(0);
});

test.each([
  ['the pages are read before subscribing', snapshotsFirst],
  ['the confirmation is not waited for', doesNotWait],
])('posts are missed where %s', async (_, mutation) => {
  expect(await missingIn(20, 0, both(mutation))).toBeGreaterThan(0);
});

test('where pages are behind the socket, the confirming walks miss nothing, and without them posts are', async () => {
  expect(await missingIn(20, 15_000, {})).toBe(0);
  expect(await missingIn(20, 15_000, doesNotConfirm)).toBeGreaterThan(0);
});
