import { describe, expect, it } from 'vitest';
import type { Notice } from '../../../src/contract/ports/client.ts';
import type { RateWindows } from '../../../src/contract/ports/rate-windows.ts';
import { Limiter } from '../../../src/core/spend/rate-limiter.ts';
import { ownWindows } from '../fakes.ts';
import { type VirtualClock, virtualClock } from '../virtual-clock.ts';

const MINUTE = 60_000;

/** The maximum number of calls within any minute. */
function busiest(times: readonly number[]): number {
  let most = 0;
  for (const [index, time] of times.entries()) {
    most = Math.max(most, times.slice(index).filter((later) => later < time + MINUTE).length);
  }
  return most;
}

interface Parts {
  readonly windows?: RateWindows;
  readonly askRate?: () => Promise<number | null>;
  readonly notify?: (notice: Notice) => void;
}

function limiterAt(clock: VirtualClock, parts: Parts = {}): Limiter {
  const { windows = ownWindows(clock), askRate = async () => null, notify = () => {} } = parts;
  return new Limiter(windows, clock, askRate, notify);
}

async function send(limiter: Limiter, clock: VirtualClock, count: number, times: number[] = []) {
  await Promise.all(
    Array.from({ length: count }, async () => {
      await limiter.acquire('key');
      times.push(clock.now());
    }),
  );
  return times;
}

describe('the lane of resolves', () => {
  it('keeps its limit for resolves that waited for the limit of the key', async () => {
    const clock = virtualClock();
    const windows = ownWindows(clock);
    const limiters = Array.from({ length: 3 }, () => limiterAt(clock, { windows }));
    for (const limiter of limiters) await limiter.learn(12);
    const times = { key: [] as number[], resolve: [] as number[] };
    const call = async (limiter: Limiter, lane: 'key' | 'resolve') => {
      await limiter.acquire(lane);
      times.key.push(clock.now());
      if (lane === 'resolve') times.resolve.push(clock.now());
    };
    for (let turn = 0; turn < 3; turn++) {
      await Promise.all(
        limiters.flatMap((limiter) => [
          ...Array.from({ length: 4 }, () => call(limiter, 'key')),
          ...Array.from({ length: 6 }, () => call(limiter, 'resolve')),
        ]),
      );
    }
    expect(busiest(times.resolve)).toBeLessThanOrEqual(10);
    expect(busiest(times.key)).toBeLessThanOrEqual(12);
  });
});

describe('the lane of a key', () => {
  it('uses the lowest rate of all plans while the limit is unknown', async () => {
    const clock = virtualClock();
    const times = await send(limiterAt(clock), clock, 200);
    expect(busiest(times)).toBeLessThanOrEqual(60);
  });

  it.each([
    ['at once, if the call tells the limit', { tellsLimit: true }, 600, 0],
    ['after the limit was fetched, if the process that should fetch it has ended', {}, 600, 3_500],
    ['after a minute, if the limit cannot be fetched', {}, null, 61_000],
  ])('lets a call leave behind 60 others %s', async (_, leaving, limit, mostMs) => {
    const clock = virtualClock();
    const windows = ownWindows(clock);
    for (let sent = 0; sent < 60; sent++) await windows.take('key', 60);
    const notices: Notice[] = [];
    const limiter = limiterAt(clock, {
      windows,
      askRate: async () => limit,
      notify: (notice) => notices.push(notice),
    });
    const began = clock.now();
    await limiter.acquire('key', undefined, leaving);
    expect(clock.now() - began).toBeLessThanOrEqual(mostMs);
    expect(notices.length).toBe(limit === null ? 1 : 0);
    // Such a call is counted, so that those behind it stay within the limit.
    const { waitMs } = await windows.take('key', 61);
    expect(waitMs > 0).toBe(limit !== null);
  });

  it('waits for the end of a 429 even with a call that tells the limit', async () => {
    const clock = virtualClock();
    const windows = ownWindows(clock);
    await windows.block('key', 30_000);
    const began = clock.now();
    let asked = 0;
    const limiter = limiterAt(clock, { windows, askRate: async () => ++asked });
    await limiter.acquire('key', undefined, { tellsLimit: true });
    expect([clock.now() - began, asked]).toEqual([expect.closeTo(30_000, -3), 0]);
  });

  it('does not request the limit for a few calls', async () => {
    const clock = virtualClock();
    let asked = 0;
    const limiter = limiterAt(clock, { askRate: async () => ++asked * 300 });
    await send(limiter, clock, 9);
    expect(asked).toBe(0);
  });

  it('waits for the process that requests the limit, but not forever', async () => {
    const clock = virtualClock();
    const windows = ownWindows(clock);
    let wake = () => {};
    const silent = new Promise<null>((resolve) => {
      wake = () => resolve(null);
    });
    const first = send(limiterAt(clock, { windows, askRate: () => silent }), clock, 11);
    const began = clock.now();
    const times = await send(limiterAt(clock, { windows }), clock, 3);
    expect(clock.now() - began).toBeLessThanOrEqual(5_000);
    expect(times.length).toBe(3);
    wake();
    await first;
  });

  it.each([
    [150, 40],
    // Lower than that of any plan.
    [12, 4],
  ])(
    'has the limit of the key, %i, for all limiters with the same windows',
    async (limit, calls) => {
      const clock = virtualClock();
      const windows = ownWindows(clock);
      const times: number[] = [];
      const askRate = async () => {
        times.push(clock.now());
        await clock.sleep(700);
        return limit;
      };
      const limiters = Array.from({ length: 10 }, () => limiterAt(clock, { windows, askRate }));
      await Promise.all(limiters.map((limiter) => send(limiter, clock, calls, times)));
      // One request of the limit serves them all.
      expect(times.length).toBe(10 * calls + 1);
      expect(busiest(times)).toBeLessThanOrEqual(limit);
    },
  );

  it('serves calls in their order', async () => {
    const clock = virtualClock();
    const limiter = limiterAt(clock);
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: 150 }, async (_, index) => {
        await limiter.acquire('key');
        order.push(index);
      }),
    );
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });

  it('removes an aborted call at once, and the next call takes its position', async () => {
    const clock = virtualClock();
    const dropped: string[] = [];
    const drop = async (lane: string) => void dropped.push(lane);
    const windows = Object.assign(ownWindows(clock), { drop });
    await windows.learn('key', 60);
    const limiter = limiterAt(clock, { windows });
    await send(limiter, clock, 60);
    const stop = new AbortController();
    const first = limiter.acquire('key', stop.signal).catch((error: unknown) => error);
    const second = limiter.acquire('key');
    const reason = new Error('stopped');
    await new Promise(setImmediate);
    stop.abort(reason);
    expect(await first).toBe(reason);
    await second;
    expect(dropped).toEqual(['key']);
    expect(clock.pending).toBe(0);
  });

  it('rejects a call that would have to wait longer than the maximum wait for a 429', async () => {
    const clock = virtualClock();
    const windows = ownWindows(clock);
    await limiterAt(clock, { windows }).refused('key', 600_000);
    await limiterAt(clock, { windows }).refused('resolve', 600_000);
    const began = clock.now();
    for (const lane of ['key', 'resolve'] as const) {
      const failure = { kind: 'rate', code: 'RATE_LIMITED', retryAfter: 600 };
      await expect(limiterAt(clock, { windows }).acquire(lane)).rejects.toMatchObject(failure);
    }
    expect(clock.now()).toBe(began);
    await clock.sleep(500_000);
    await limiterAt(clock, { windows }).acquire('resolve');
    expect(clock.now() - began).toBe(600_000);
  });

  it('reports only long waits, with their reason', async () => {
    const clock = virtualClock();
    const notices: Notice[] = [];
    const windows = ownWindows(clock);
    await windows.learn('key', 60);
    const limiter = limiterAt(clock, { windows, notify: (notice) => notices.push(notice) });
    await send(limiter, clock, 61);
    await clock.sleep(120_000);
    await limiter.refused('key', 2_000);
    await send(limiter, clock, 1);
    expect(notices).toEqual([
      { kind: 'wait', ms: 61_000, reason: 'the key allows 60 requests per minute' },
    ]);
  });

  it('blocks a lane for at most a quarter of an hour, whatever a 429 says', async () => {
    const clock = virtualClock();
    const windows = ownWindows(clock);
    await limiterAt(clock, { windows }).refused('key', 1e15);
    expect((await windows.take('key', 60)).waitMs).toBe(15 * 60_000);
  });

  it('requests the limit again only after a 429 of the key itself, at most once a minute', async () => {
    const clock = virtualClock();
    const windows = ownWindows(clock);
    await windows.learn('key', 300);
    let asked = 0;
    const limiter = limiterAt(clock, { windows, askRate: async () => ++asked * 0 + 300 });
    await limiter.acquire('key');
    await limiter.refused('resolve', 1);
    await limiter.acquire('key');
    expect(asked).toBe(0);
    for (const wanted of [1, 1, 2]) {
      await limiter.refused('key', 1);
      await limiter.acquire('key');
      expect(asked).toBe(wanted);
      await clock.sleep(30_000);
    }
  });
});
