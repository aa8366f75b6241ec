import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { RateWindows } from '../../src/contract/ports/rate-windows.ts';
import { keysOf } from '../../src/store/keys.ts';
import { until } from '../e2e/feed.ts';
import { has } from '../tools.ts';
import { machine, scope } from './machines.ts';
import { startServer } from './server.ts';

/** Waits like the limiter, and returns the times between which the call was admitted. */
async function depart(windows: RateWindows, limit: number, ticket: number) {
  for (;;) {
    const from = performance.now();
    const { waitMs } = await windows.take('key', limit, ticket);
    if (waitMs <= 0) return { from, to: performance.now() };
    await delay(waitMs);
  }
}

describe.skipIf(!has('redis-server'))('windows in a store', () => {
  it('never contain more calls than the limit', async () => {
    const server = await startServer();
    const windowMs = 1_000;
    const fleet = ['a', 'b', 'c'].map((name) => machine(server, { name, windowMs }));
    const left: { from: number; to: number }[] = [];
    const waiting: Promise<unknown>[] = [];
    for (let order = 0; order < 18; order++) {
      const { windows } = fleet[order % 3] ?? machine(server);
      const booked = windows.take('key', 6, order);
      waiting.push(depart(windows, 6, order).then((times) => left.push(times)));
      await booked;
    }
    await Promise.all(waiting);
    // A reserved call may be sent a quarter of a second late.
    for (const [place, { to }] of left.entries()) {
      const before = left[place - 6];
      if (before !== undefined) expect(to - before.from).toBeGreaterThan(windowMs - 300);
    }
  });

  it('reserve departures for callers in their order', async () => {
    const server = await startServer();
    const windowMs = 61_000;
    const fleet = ['a', 'b', 'c'].map((name) => machine(server, { name, windowMs }));
    const waits: number[] = [];
    for (let order = 0; order < 9; order++) {
      const { windows } = fleet[order % 3] ?? machine(server);
      waits.push((await windows.take('key', 3, order)).waitMs);
    }
    expect(waits.map((ms) => Math.ceil(ms / windowMs))).toEqual([0, 0, 0, 1, 1, 1, 2, 2, 2]);
  });

  it('fall back to a share of the limit while the store is unreachable, add these calls later, and report both once', async () => {
    const server = await startServer();
    const [one, two] = [machine(server), machine(server, { name: 'b' })];
    await one.windows.take('key', 4);
    await two.windows.take('key', 4);
    await one.windows.take('key', 4);
    expect(one.memory.read().fleet).toBe(2);
    const lost = await one.link.use(async (store) => store.lost);
    await server.kill();
    await until(() => lost.aborted);
    expect((await one.windows.take('key', 4)).waitMs).toBe(0);
    expect((await one.windows.take('key', 4)).waitMs).toBe(0);
    expect((await one.windows.take('key', 4)).waitMs).toBeGreaterThan(0);
    expect(one.notices).toEqual([expect.stringContaining('1/2 of the rate limit')]);
    await server.start();
    one.skip.ms = 8_000;
    // Five calls count: three from before the outage and two from the outage.
    expect((await one.windows.take('key', 5)).waitMs).toBeGreaterThan(0);
    expect(one.notices).toEqual([
      expect.anything(),
      'the store is available again; all machines share the rate limit',
    ]);
  });

  it('share a block and a learned limit, and release a reservation that is given up', async () => {
    const server = await startServer();
    const [one, two] = [machine(server), machine(server, { name: 'b' })];
    await one.windows.learn('key', 1);
    expect(await two.windows.take('key', 60, 1)).toEqual({ waitMs: 0, statedLimit: 1 });
    expect((await one.windows.take('key', 60, 1)).queued).toBe(true);
    await one.windows.drop('key', 1);
    const next = await two.windows.take('key', 60, 2);
    expect(next.waitMs).toBeLessThanOrEqual(61_000);
    await one.windows.block('key', 90_000);
    const blocked = await two.windows.take('key', 60);
    expect(blocked.waitMs).toBeGreaterThan(89_000);
  });

  it('count resolves by address, whatever the key is', async () => {
    const keys = (key: string, egress?: string) =>
      keysOf({ ...scope, key, egress }).lane('resolve').calls;
    expect(keys('one')).toBe(keys('two'));
    expect(keys('one', 'office')).not.toBe(keys('one', 'cloud'));
  });
});
