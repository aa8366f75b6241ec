import { expect, test } from 'vitest';
import { judge } from './judge.ts';
import { acknowledgements, type Schedule, scheduleOf, uneventful } from './schedule.ts';
import { createSimulation, type Mutation, type Outcome } from './world.ts';

/** Ten minutes on a socket in which nothing fails. */
const calm = (given: Partial<Schedule>): Schedule => ({
  ...scheduleOf(1),
  ...uneventful,
  ...{ faults: [], behindMs: 0, rate: 0.2, lagMs: 10_000, busyMs: 600_000, ceiling: null, units: null },
  ...given,
});

async function run(schedule: Schedule, mutation: Mutation = {}): Promise<Outcome> {
  const simulation = createSimulation(schedule, mutation);
  do await new Promise(setImmediate);
  while (simulation.step());
  expect(judge(simulation.outcome)).toEqual([]);
  return simulation.outcome;
}

/** Rows that came over the socket, of all, and how many connections it took. */
function bySocket({ processes: [process] }: Outcome) {
  const rows = (process?.writes ?? []).flat();
  return {
    share: rows.filter(({ paged }) => !paged).length / rows.length,
    connections: process?.summary?.connections,
  };
}

test.each(acknowledgements)(
  'posts flow over one socket where the subscription is answered: %s',
  async (answer) => {
    const { share, connections } = bySocket(await run(calm({ answer })));
    expect(connections).toBe(1);
    expect(share).toBeGreaterThan(0.9);
  },
);

test('a subscription that was lost is sent again on the same socket', async () => {
  const outcome = await run(calm({ faults: [{ kind: 'mute', from: 0, to: 25_000 }] }));
  expect(bySocket(outcome)).toMatchObject({ connections: 1 });
  expect(outcome.processes[0]?.notices.filter(({ kind }) => kind === 'unacknowledged')).toHaveLength(1);
});

test('posts come by polls, and the socket is given up, where it brings none', async () => {
  const outcome = await run(calm({ via: 'auto', faults: [{ kind: 'mute', from: 0, to: 1e12 }] }));
  const [process] = outcome.processes;
  expect(process?.notices.some(({ kind }) => kind === 'fallback')).toBe(true);
  expect(process?.summary?.rows).toBeGreaterThan(100);
});

test('a service that sends no pings is not dead, and the pings of the client tell so', async () => {
  const quiet = calm({ pings: false, rate: 0.01 });
  expect(bySocket(await run(quiet)).connections).toBe(1);
  const deaf: Mutation = {
    options: (options) => ({ ...options, timing: { ...options.timing, pingMs: 1e9 } }),
  };
  expect(bySocket(await run(quiet, deaf)).connections).toBeGreaterThan(1);
});

test('posts without an id are counted once each', async () => {
  const outcome = await run(calm({ nameless: 0.2 }));
  const posted = outcome.service.posts.filter((post) => post.nameless && post.sentAt > 10_000).length;
  const counted = outcome.processes[0]?.summary?.nameless ?? 0;
  expect(counted).toBeGreaterThanOrEqual(posted);
  // Those of the first pages were posted before the run.
  expect(counted).toBeLessThan(posted + 30);
});
