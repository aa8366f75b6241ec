import { expect, test } from 'vitest';
import { repeats, some, timeoutFor } from '../repeats.ts';
import { judgeRelay } from './relay/judge.ts';
import * as mutant from './relay/mutants.ts';
import {
  emptied,
  killedFollowers,
  lateFollowers,
  lostBehindFrames,
  type RelaySchedule,
  relayScheduleOf,
  slowReplica,
} from './relay/schedule.ts';
import { type RelayMutation, runRelaySchedule } from './relay/world.ts';

/** The number of schedules. `RELAY_SEEDS=10000` runs more, `FROM=n` others, `SEED=n` repeats one. */
const SEEDS = repeats('RELAY_SEEDS', 1, 100);
const FROM = Number(process.env['FROM'] ?? 0);

const range = (of: (seed: number) => RelaySchedule, from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => of(from + at));

/** Runs schedules until one fails, and returns what went wrong in it. */
async function simulateRelays(schedules: readonly RelaySchedule[], mutation?: RelayMutation) {
  for (const schedule of schedules) {
    const problems = await runRelaySchedule(schedule, mutation).then(judgeRelay, (error) => [
      error.stack,
    ]);
    if (problems.length > 0) return [{ seed: schedule.seed, problems }];
  }
  return [];
}

test(
  'relays publish and followers deliver every post exactly once, whatever happens to the store and to them',
  async () => {
    const one = process.env['SEED'];
    const schedules =
      one === undefined
        ? range(relayScheduleOf, FROM, FROM + SEEDS)
        : [relayScheduleOf(Number(one))];
    expect(await simulateRelays(schedules)).toEqual([]);
  },
  timeoutFor(SEEDS).timeout,
);

const rare: readonly [string, RelaySchedule][] = [
  ['a follower that began before the feed reports a first post that the store lost', emptied(65)],
  ['a follower killed just after an outage of the store loses nothing', relayScheduleOf(500_421)],
  ['no gap is reported if the store loses a feed seconds old', relayScheduleOf(5_100_067)],
];

test.each(some(rare, 1))('%s', async (_, schedule) => {
  expect(await simulateRelays([schedule])).toEqual([]);
});

const special: readonly [string, (seed: number) => RelaySchedule][] = [
  ['a replica whose clock is behind takes over', slowReplica],
  ['the store loses everything', emptied],
  ['followers begin later', lateFollowers],
  ['followers are killed again and again', killedFollowers],
  [
    'the store loses everything before posts are published whose frames were lost',
    lostBehindFrames,
  ],
];

test.each(some(special, 1))(
  'relays and followers deliver every post exactly once even if %s',
  timeoutFor(SEEDS),
  async (_, of) => {
    expect(await simulateRelays(range(of, FROM, FROM + Math.ceil(SEEDS / 5)))).toEqual([]);
  },
);

// The first seed is one in which the mutant is known to fail. Others follow in case the schedules change.
const mutants: readonly [string, RelayMutation, (seed: number) => RelaySchedule, number][] = [
  ['a former leader may publish', mutant.withoutFence, relayScheduleOf, 1],
  ['leases have no nonce', mutant.withoutNonce, relayScheduleOf, 0],
  ['a new leader does not read the end of the stream', mutant.withoutEnd, relayScheduleOf, 13],
  ['an answer of the store is not waited for', mutant.doesNotWait, relayScheduleOf, 0],
  ['a term outlives its connection', mutant.reconnects, relayScheduleOf, 15],
  ['a follower does not look back', mutant.doesNotLookBack, slowReplica, 0],
  ['a relay forgets its feed', mutant.forgets, emptied, 0],
  ['a relay on standby remembers nothing', mutant.ignoresFeed, emptied, 10],
  ['a follower assumes that nothing is missing', mutant.assumesNoGap, relayScheduleOf, 31],
  [
    'a follower assumes that nothing before its last post is missing',
    mutant.withoutVerified,
    lostBehindFrames,
    15,
  ],
  ['a follower claims what it has not read', mutant.claimsAll, lateFollowers, 0],
  ['a follower forgets the lines behind its position', mutant.forgetsLines, relayScheduleOf, 23],
  [
    'a follower saves a position before its rows are written',
    mutant.doesNotFlush,
    killedFollowers,
    0,
  ],
  [
    'a follower assumes that a feed was not started over',
    mutant.withoutStart,
    lostBehindFrames,
    21,
  ],
  [
    'a follower does not recognize the beginning of a feed',
    mutant.withoutBeginning,
    relayScheduleOf,
    53,
  ],
];

test.each(some(mutants, 1))('the promise breaks if %s', async (_, mutation, of, from) => {
  const [failed] = await simulateRelays(range(of, from, from + 60), mutation);
  expect(failed?.problems.join('\n')).toMatch(
    /is missing in|is twice in|two terms had|reported a gap|is claimed by/,
  );
});
