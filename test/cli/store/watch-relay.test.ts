import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunEnd } from '../../../src/cli/io.ts';
import { RelayState, watchRelay } from '../../../src/cli/store/watch-relay.ts';
import { watchHealth } from '../../../src/cli/tail/service/watch.ts';
import { keysOf } from '../../../src/store/keys.ts';
import type { Tail } from '../../../src/tail/engine.ts';
import { nothingMeasured } from '../../../src/tail/health.ts';
import type { TailStatus } from '../../../src/tail/notice.ts';
import { openFolder } from '../../folder.ts';
import { noWait } from '../../no-wait.ts';
import { advanceTime, clockOn, createScheduler } from '../../sim/scheduler.ts';
import { readSamples } from '../../status-file.ts';

const status: TailStatus = {
  ...{ ...nothingMeasured, mode: 'polling', turns: 5, rows: 2, pages: 3, gaps: 1, connections: 0 },
  ...{ spent: { cu: 200, atMost: 400 }, perMinute: 1_200, earlier: 0, blockedSince: null },
};

const tailOf = (change: Partial<TailStatus>): Tail => ({
  status: () => ({ ...status, ...change }),
  wake() {},
  touch() {},
  run: () => Promise.reject(),
});

function openRelay() {
  const folder = openFolder();
  const scheduler = createScheduler();
  const clock = clockOn(
    scheduler,
    () => 1_700_000_000_000,
    () => true,
  );
  const advance = (ms: number) => advanceTime(scheduler, ms);
  const notices: string[] = [];
  const path = join(folder, 'relay.prom');
  const atEnd = new Set<(end: RunEnd) => Promise<void>>();
  const state = new RelayState();
  const watched = watchRelay(state, clock, {
    link: { use: () => Promise.reject(new Error('the store is away')) },
    feed: keysOf({ baseUrl: 'https://api.example.test', key: 'k' }).feed('all'),
  });
  watchHealth(
    {
      io: { clock, env: {}, atEnd } as never,
      command: 'thesis relay',
      notice: (line) => void notices.push(line),
      diskWait: noWait,
      signal: new AbortController().signal,
    },
    { status: path, heartbeat: 10_000 },
    watched,
  );
  const read = () => readSamples(path);
  const age = () => clock.now() / 1_000 - Number(read()['update_timestamp_seconds']);
  const end = async () => {
    for (const report of atEnd) await report({ exit: 0, reason: 'done' });
  };
  return { state, end, advance, read, age, now: clock.now, notices };
}

test('a relay reports its state like a tail, and its counts include all of its terms', async () => {
  const { state, advance, read, age, now, notices, end } = openRelay();
  const known = { spent_at_most_units: 400, last_post_timestamp_seconds: 70 };
  expect(read()).toMatchObject({ command: 'thesis relay', ready: 0, mode: 'connecting' });
  state.standBy('b1');
  await advance(10_000);
  expect(read()).toMatchObject({ ready: 1, mode: 'standby', service_up: 1, rows_total: 0 });
  expect(read()).not.toHaveProperty('verified_timestamp_seconds');
  expect(age()).toBeLessThan(6);
  expect(notices).toEqual(['heartbeat: standing by: b1 leads this feed']);

  const first = tailOf({
    ready: true,
    walkedAgoMs: 1_000,
    verified: now() - 6_000,
    lastPost: { at: 70_000, lagMs: 9 },
  });
  state.begin(first);
  await advance(10_000);
  expect(read()).toMatchObject({ mode: 'polling', rows_total: 2, gaps_total: 1, ...known });
  expect(now() / 1_000 - Number(read()['verified_timestamp_seconds'])).toBeLessThan(17);
  expect(notices.at(-1)).toMatch(/^heartbeat: leading · 2 posts published · 400 CU/);

  state.end();
  state.phase = 'away';
  await advance(10_000);
  expect(read()).toMatchObject({ ready: 1, service_up: 0, rows_total: 2, ...known });
  expect(notices.at(-1)).toBe('heartbeat: waiting for the store');

  state.begin(tailOf({ rows: 5 }));
  await advance(10_000);
  expect(read()).toMatchObject({
    ready: 1,
    rows_total: 7,
    gaps_total: 2,
    ...known,
    spent_at_most_units: 800,
  });
  await end();
  expect(read()['up']).toBe(0);
});
