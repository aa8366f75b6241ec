import { expect, test } from 'vitest';
import { judge } from './judge.ts';
import { acknowledgements, type Schedule, scheduleOf, uneventful } from './schedule.ts';
import { type Mutation, type Outcome, runSchedule } from './world.ts';

/** Ten minutes of streaming without faults. */
const calm = (given: Partial<Schedule>): Schedule => ({
  ...scheduleOf(1),
  ...uneventful,
  ...{ faults: [], behindMs: 0, rate: 0.2, lagMs: 10_000, busyMs: 600_000, ceiling: null, units: null },
  ...given,
});

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
    const { share, connections } = bySocket(await run(calm({ answer })));
    expect(connections).toBe(1);
    expect(share).toBeGreaterThan(0.9);
  },
);

test('falls back to polling if the socket delivers no posts', async () => {
  const outcome = await run(calm({ via: 'auto', faults: [{ kind: 'mute', from: 0, to: 1e12 }] }));
  const [process] = outcome.processes;
  expect(process?.notices.some(({ kind }) => kind === 'fallback')).toBe(true);
  expect(process?.summary?.rows).toBeGreaterThan(100);
});

test('keeps a connection without pings from the service, because the client pings too', async () => {
  const quiet = calm({ pings: false, rate: 0.01 });
  expect(bySocket(await run(quiet)).connections).toBe(1);
  const withoutPings: Mutation = {
    options: (options) => ({ ...options, timing: { ...options.timing, pingMs: 1e9 } }),
  };
  expect(bySocket(await run(quiet, withoutPings)).connections).toBeGreaterThan(1);
});

test('counts each post without an id once', async () => {
  const outcome = await run(calm({ nameless: 0.2 }));
  const posted = outcome.service.posts.filter((post) => post.nameless && post.sentAt > 10_000).length;
  const counted = outcome.processes[0]?.summary?.nameless ?? 0;
  expect(counted).toBeGreaterThanOrEqual(posted);
  // The first pages contain a few posts without an id from before the run, which are counted too.
  expect(counted).toBeLessThan(posted + 30);
});
