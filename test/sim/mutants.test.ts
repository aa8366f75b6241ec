import { expect, test } from 'vitest';
import { repeats, some } from '../repeats.ts';
import * as mutant from './mutants.ts';
import { rngOf } from './rng.ts';
import { seeds, simulate } from './run.ts';
import { calm, type Schedule } from './schedule.ts';
import { above } from './service.ts';
import { type Mutation, type Outcome, runSchedule } from './world.ts';

const isClaim = (problem: string) => problem.includes('is claimed at');

/** The number of seeds; every mutant must fail in at least one of them. */
const SEEDS = 600;
/** The number of schedules in which a safeguard must hold, and in some of which its mutant must fail. */
const RUNS = repeats('MUTANT_RUNS', 4, 20);

// The first seed of each mutant is a little below one in which it fails.
const mutants: readonly [string, Mutation, number][] = [
  ['walks end at the first known id', mutant.stopsAtKnownId, 20],
  ['the position has no ids', mutant.forgetsIds, 0],
  ['the position claims everything up to the newest post', mutant.claimsTheNewest, 0],
  ['frames that a new subscription repeats count as late', mutant.takesRepeatsForLate, 0],
  ['the lines behind the position are not known', mutant.ignoresLines, 0],
  ['checkpoints are written before the flush', mutant.savesFirst, 0],
  ['posts count as verified after 15 s', mutant.verifiesTooSoon, 10],
  ['late frames are dropped', mutant.dropsLateFrames, 0],
  ['a page that claims to be the last is trusted', mutant.believesTheLastPage, 180],
  ['ids of posts without a time are forgotten', mutant.forgetsTimeless, 0],
  ['ids are forgotten by their number', mutant.forgetsByCount, 0],
  ['the newest line counts as verified if the position is lost', mutant.trustsTheNewestLine, 170],
];

test.each(some(mutants, 3))('the promise breaks if %s', async (_, mutation, from) => {
  expect(await simulate(seeds(from, from + SEEDS), mutation, 1)).not.toEqual([]);
});

/** A schedule in which posts stay unread: pages fail for minutes, and then no page leads to an older one. */
function unread(seed: number): Schedule {
  return calm(seed, {
    ...{ via: 'poll', resume: 'file', twenty: true, busyMs: 400_000, rate: 1 },
    faults: [
      { kind: 'fault', p: 1, from: 40_000, to: 200_000 },
      { kind: 'evict', p: 1, from: 200_000, to: 300_000 },
      { kind: 'quota', from: 330_000, to: 350_000 },
    ],
  });
}

test('a certificate names the gap, before and after a restart', async () => {
  const gaps: number[] = [];
  const look = ({ processes }: Outcome) => {
    expect(processes.length).toBeGreaterThan(1);
    for (const { saved } of processes) gaps.push(saved?.coverage?.gaps.length ?? 0);
  };
  expect(await simulate([unread(1), unread(2)], undefined, 1, look)).toEqual([]);
  expect(Math.min(...gaps)).toBeGreaterThan(0);
});

const falsehoods: readonly [string, Mutation, Iterable<Schedule>][] = [
  ['is written before the flush', mutant.savesFirst, seeds(0, SEEDS)],
  ['has the lines from before the rows that it covers', mutant.takesThePlaceFirst, seeds(0, SEEDS)],
  ['forgets a gap at a restart', mutant.forgetsGaps, [unread(1), unread(2)]],
  ['joins the stretches before and after a gap', mutant.joinsStretches, [unread(1), unread(2)]],
  ['begins before the run', mutant.claimsThePast, seeds(0, SEEDS)],
  ['begins before the lines of a lost position', mutant.claimsBeforeTheLines, seeds(0, SEEDS)],
  ['has a gap that is too short', mutant.shortensGaps, [unread(1), unread(2)]],
];

test.each(some(falsehoods, 2))(
  'a certificate is false if it %s',
  async (_, mutation, schedules) => {
    expect(await simulate(schedules, mutation, 1, () => {}, isClaim)).not.toEqual([]);
  },
);

/** Schedules in which nothing happens but that pages fail for minutes. */
const failing = Array.from({ length: 10 }, (_, seed) =>
  calm(seed, {
    via: 'poll',
    resume: 'file',
    rate: 1,
    busyMs: 300_000,
    faults: [{ kind: 'fault', p: 0.8, from: 30_000, to: 250_000 }],
  }),
);

test('requests that fail leave no gap, unless they count as answers that lead nowhere', async () => {
  let gaps = 0;
  const look = ({ processes }: Outcome) => {
    for (const { summary } of processes) gaps += summary?.gaps.length ?? 0;
  };
  expect(await simulate(failing, undefined, 1, look)).toEqual([]);
  expect(gaps).toBe(0);
  await simulate(failing, mutant.takesFailuresForTheEnd, failing.length + 1, look);
  expect(gaps).toBeGreaterThan(0);
});

test('a first page that is empty is believed after three answers', async () => {
  const schedules = Array.from({ length: 5 }, (_, seed) => calm(seed, { via: 'poll', rate: 1 }));
  expect(await simulate(schedules, mutant.emptyAtFirst(2))).toEqual([]);
  expect(await simulate(schedules, mutant.emptyAtFirst(3), 1)).not.toEqual([]);
});

/** A schedule in which the service stands still for minutes, while the tail is stopped once. */
function standing(seed: number): Schedule {
  const rng = rngOf(seed, 79);
  const from = 1_000 * rng.between(60, 80);
  return calm(seed, {
    busyMs: 330_000,
    ...{
      via: rng.pick(['ws', 'poll'] as const),
      resume: 'file',
      rate: rng.pick([0.1, 1]),
      position: 'last',
    },
    faults: [
      { kind: 'still', from, to: from + 1_000 * rng.between(150, 240) },
      { kind: 'kill', from: from + 90_000, to: from + 90_000 },
    ],
  });
}

const standings = Array.from({ length: RUNS }, (_, seed) => standing(seed));

test('the promise holds while the service stands still, but not if claims follow the clock of this machine', async () => {
  expect(await simulate(standings)).toEqual([]);
  expect(await simulate(standings, mutant.claimsByClock, 1, () => {}, isClaim)).not.toEqual([]);
  // Otherwise, that clock would do.
  const moving = standings.map((each) => ({ ...each, faults: [] }));
  expect(await simulate(moving, mutant.claimsByClock, 1, () => {}, isClaim)).toEqual([]);
});

/** A schedule whose only faults are broken connections. */
function breaking(seed: number, behindMs: number): Schedule {
  const rng = rngOf(seed, 77);
  const busyMs = 120_000;
  const faults = Array.from({ length: 4 }, (_, i) => {
    const from = 25_000 * (i + 1) * rng.between(0.9, 1.1);
    return { kind: rng.pick(['reset', 'close'] as const), from, to: from + 1 };
  });
  return calm(seed, { behindMs, busyMs, faults, rate: 1 });
}

/** The number of posts that a run without audits misses. */
async function missing(schedule: Schedule, mutation: Mutation): Promise<number> {
  const { service, processes, disk, endsAt } = await runSchedule(
    schedule,
    mutant.withoutAudits(mutation),
  );
  const start = processes[0]?.access.first;
  const top = start?.top;
  const expected = service.posts.filter(
    (post) =>
      top && above(post, top) && !start.held.has(post.id) && post.visibleAt < endsAt - 30_000,
  );
  const written = new Set(disk.lines.map(({ id }) => id));
  return expected.filter(({ id }) => !written.has(id)).length;
}

/** The number of posts missed by the first of the runs that misses any. */
async function missingIn(runs: number, behindMs: number, mutation: Mutation): Promise<number> {
  let missed = 0;
  for (let seed = 0; seed < runs && missed === 0; seed++) {
    missed = await missing(breaking(seed, behindMs), mutation);
  }
  return missed;
}

const alone: Mutation = {
  options: (options) => ({ ...options, timing: { confirmMs: [], ...options.timing } }),
};
const both = (one: Mutation): Mutation => ({ ...alone, ...one });

test('a walk that starts after the confirmation of the subscription misses nothing', async () => {
  expect(await missingIn(RUNS, 0, alone)).toBe(0);
});

test.each([
  ['the pages are read before subscribing', mutant.snapshotsFirst],
  ['the walk does not wait for the confirmation', mutant.doesNotWait],
])('posts are missed if %s', async (_, mutation) => {
  expect(await missingIn(20, 0, both(mutation))).toBeGreaterThan(0);
});

test('posts are missed if pages lag behind the socket and no later walks confirm them', async () => {
  expect(await missingIn(RUNS, 15_000, {})).toBe(0);
  expect(await missingIn(20, 15_000, mutant.doesNotConfirm)).toBeGreaterThan(0);
});
