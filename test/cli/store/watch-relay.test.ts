import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { RunEnd } from '../../../src/cli/io.ts';
import { watchRelay } from '../../../src/cli/store/watch-relay.ts';
import { keysOf } from '../../../src/store/keys.ts';
import type { Tail } from '../../../src/tail/engine.ts';
import { judgeStatus, readStatusFile } from '../../../src/tail/health/read-status.ts';
import type { TailStatus } from '../../../src/tail/notice.ts';
import { noWait } from '../../no-wait.ts';
import { advanceTime, clockOn, createScheduler } from '../../sim/scheduler.ts';

const status: TailStatus = {
  ...{ mode: 'poll', connected: false, failing: false, waitsUntil: null, turns: 5, rows: 2, pages: 3 },
  ...{ nameless: 0, lastPost: null, limitLeft: null, allowanceLeft: null, rate: 0, gaps: 1, filled: 0 },
  ...{ late: 0, connections: 0, spent: { cu: 200, atMost: 400 }, perMinute: 1_200, verified: null },
  ...{ walkedAgoMs: null, budgets: [], earlier: 0, blockedSince: null },
};

const tailOf = (change: Partial<TailStatus>): Tail => ({
  status: () => ({ ...status, ...change }),
  wake() {},
  touch() {},
  run: () => Promise.reject(),
});

function openRelay() {
  const folder = mkdtempSync(join(tmpdir(), 'trdr-relay-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
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
  const observer = watchRelay(
    {
      io: { clock, env: {}, atEnd } as never,
      command: 'thesis relay',
      notice: (line) => void notices.push(line),
      diskWait: noWait,
      signal: new AbortController().signal,
    },
    { status: path, heartbeat: 10_000 },
    {
      link: { use: () => Promise.reject(new Error('the store is away')) },
      feed: keysOf({ baseUrl: 'https://api.example.test', key: 'k' }).feed('all'),
    },
  );
  const read = () => readStatusFile(readFileSync(path, 'utf8'));
  const end = async () => {
    for (const report of atEnd) await report({ exit: 0, reason: 'done' });
  };
  return { observer, end, advance, read, now: clock.now, notices };
}

test('a relay reports its state like a tail, and its counts include all of its terms', async () => {
  const { observer, advance, read, now, notices, end } = openRelay();
  expect(read()).toMatchObject({ command: 'thesis relay', ready: false, mode: 'connecting' });
  observer.standby('b1');
  await advance(10_000);
  expect(read()).toMatchObject({ ready: true, mode: 'standby', serviceUp: true, rows: 0, verifiedTo: null });
  expect(judgeStatus(read(), now())).toBe('healthy');
  expect(notices).toEqual(['heartbeat: standing by: b1 leads this feed']);

  const first = tailOf({ walkedAgoMs: 1_000, verified: now() - 6_000, lastPost: { at: 70_000, lagMs: 9 } });
  observer.leading(first);
  await advance(10_000);
  expect(read()).toMatchObject({ mode: 'polling', rows: 2, gaps: 1, spentAtMost: 400, lastPostAt: 70_000 });
  expect(now() - (read().verifiedTo ?? 0)).toBeLessThan(17_000);
  expect(notices.at(-1)).toMatch(/^heartbeat: leading · 2 posts published · 400 CU/);

  observer.ended(first);
  observer.away();
  await advance(10_000);
  expect(read()).toMatchObject({
    ready: true,
    serviceUp: false,
    rows: 2,
    spentAtMost: 400,
    lastPostAt: 70_000,
  });
  expect(notices.at(-1)).toBe('heartbeat: waiting for the store');

  observer.leading(tailOf({ rows: 5 }));
  await advance(10_000);
  expect(read()).toMatchObject({ ready: true, rows: 7, gaps: 2, spentAtMost: 800, lastPostAt: 70_000 });
  await end();
  expect(read().up).toBe(false);
});

test('a relay whose loop hangs becomes stale, and one that waits does not', async () => {
  const { observer, advance, read, now, end } = openRelay();
  observer.standby('b1');
  await advance(60_000);
  expect(judgeStatus(read(), now())).toBe('healthy');
  observer.leading(tailOf({ walkedAgoMs: 0 }));
  await advance(60_000);
  expect(judgeStatus(read(), now())).toBe('stale');
  await end();
});
