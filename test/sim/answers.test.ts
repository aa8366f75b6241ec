import { expect, test } from 'vitest';
import { judge } from './judge.ts';
import { simulate } from './run.ts';
import { acknowledgements, calm, type Fault, type Schedule } from './schedule.ts';
import { type Mutation, type Outcome, runSchedule } from './world.ts';

/** Ten minutes of streaming without faults. */
const streaming = (given: Partial<Schedule>) => calm(1, { rate: 0.2, busyMs: 600_000, ...given });

async function run(schedule: Schedule, mutation: Mutation = {}): Promise<Outcome> {
  const outcome = await runSchedule(schedule, mutation);
  expect(judge(outcome)).toEqual([]);
  return outcome;
}

/** The share of rows that came over the socket, and the number of connections. */
function bySocket({ processes: [process] }: Outcome) {
  const rows = (process?.writes ?? []).flat();
  return {
    share: rows.filter(({ paged }) => !paged).length / rows.length,
    connections: process?.summary?.connections,
  };
}

test.each(acknowledgements)(
  'one socket is enough with any response to the subscription: %s',
  async (answer) => {
    const { share, connections } = bySocket(await run(streaming({ answer })));
    expect(connections).toBe(1);
    expect(share).toBeGreaterThan(0.9);
  },
);

test('falls back to polling if the socket delivers no posts', async () => {
  const outcome = await run(
    streaming({ via: 'auto', faults: [{ kind: 'mute', from: 0, to: 1e12 }] }),
  );
  const [process] = outcome.processes;
  expect(process?.notices.some(({ kind }) => kind === 'fallback')).toBe(true);
  expect(process?.summary?.rows).toBeGreaterThan(100);
});

test('keeps a connection without pings from the service, because the client pings too', async () => {
  const quiet = streaming({ pings: false, rate: 0.01 });
  expect(bySocket(await run(quiet)).connections).toBe(1);
  const withoutPings: Mutation = {
    options: (options) => ({ ...options, timing: { ...options.timing, pingMs: 1e9 } }),
  };
  expect(bySocket(await run(quiet, withoutPings)).connections).toBeGreaterThan(1);
});

test('counts each post without an id once', async () => {
  const outcome = await run(streaming({ nameless: 0.2 }));
  const posted = outcome.service.posts.filter(
    (post) => post.nameless && post.sentAt > 10_000,
  ).length;
  const counted = outcome.processes[0]?.summary?.nameless ?? 0;
  expect(counted).toBeGreaterThanOrEqual(posted);
  // The first pages contain a few posts without an id from before the run, which are counted too.
  expect(counted).toBeLessThan(posted + 30);
});

/** Four minutes in which each page takes longer than the lag. */
const slowPages = (seed: number, faults: readonly Fault[]) =>
  calm(seed, {
    ...{ lagMs: 2_000, rate: 0.5, busyMs: 240_000 },
    faults: [{ kind: 'slow', p: 1, from: 0, to: 1e12 }, ...faults],
  });

test.each<[number, readonly Fault[]]>([
  [1, []],
  [2, [{ kind: 'reset', from: 100_000, to: 100_000 }]],
])(
  'makes %i connections although each walk takes longer than the lag: %j',
  async (count, faults) => {
    const schedules = Array.from({ length: 10 }, (_, seed) => slowPages(seed, faults));
    const failed = await simulate(schedules, undefined, 1, ({ processes }) =>
      expect(processes[0]?.summary?.connections).toBe(count),
    );
    expect(failed).toEqual([]);
  },
);
