import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import type { Notice } from '../../../src/contract/ports.ts';
import { decode, encode } from '../../../src/core/client/coding.ts';
import { type Outcome, withRetries } from '../../../src/core/client/retry.ts';
import { createLimiter } from '../../../src/core/spend/rate-limiter.ts';
import { error, ownWindows } from '../fakes.ts';
import { virtualClock } from '../virtual-clock.ts';

describe('a retry', () => {
  const overloaded = (retryAfter?: number) =>
    new Failure('service', 'busy', { code: 'OVERLOADED', status: 503, retryable: true, retryAfter });
  const limited = (retryAfter: number) =>
    new Failure('rate', 'slow', { code: 'RATE_LIMITED', status: 429, retryable: true, retryAfter });
  const run = async (failure: Failure) => {
    const clock = virtualClock();
    const notices: Notice[] = [];
    let tries = 0;
    await withRetries(
      async (): Promise<Outcome<string>> =>
        ++tries > 3 ? { ok: true, value: 'there' } : { ok: false, failure, free: true },
      () => true,
      4,
      clock,
      () => 0,
      (one) => notices.push(one),
    );
    return { slept: clock.slept, tries, notices };
  };

  test('waits as long as a busy service states, and fails if that is too long', async () => {
    expect(await run(overloaded(120))).toMatchObject({ slept: [120_000, 120_000, 120_000], tries: 4 });
    expect(await run(overloaded(121))).toMatchObject({ slept: [], tries: 1 });
  });

  test('waits for 429s up to two minutes in total', async () => {
    expect(await run(limited(40))).toMatchObject({ slept: [40_000, 40_000, 40_000], tries: 4 });
    expect(await run(limited(41))).toMatchObject({ slept: [41_000, 41_000], tries: 3 });
  });

  test('reports waits of more than two seconds with their reason', async () => {
    expect((await run(limited(2))).notices).toEqual([]);
    expect((await run(overloaded(2))).notices).toEqual([]);
    expect((await run(limited(3))).notices[0]).toEqual({
      kind: 'wait',
      ms: 3_000,
      reason: 'RATE_LIMITED (429)',
    });
  });
});

describe('a call', () => {
  test('sends only the given parameters in its query', () => {
    expect(encode('thesis.all', { query: { limit: 40 } }).path).toBe('/v2/thesis?limit=40');
    expect(encode('thesis.all', { query: { before: 'a b' } }).path).toBe('/v2/thesis?before=a+b');
    expect(encode('thesis.all', {}).path).toBe('/v2/thesis');
    expect(encode('thesis.all', {}).body).toBeUndefined();
  });

  test.each([
    [304, undefined],
    [400, undefined],
    [401, { cu: 0, reveals: 0 }],
    [402, undefined],
    [403, { cu: 0, reveals: 0 }],
    [404, { cu: 0, reveals: 0, uncertain: 200 }],
    [409, undefined],
    [418, undefined],
    [429, { cu: 0, reveals: 0 }],
    [451, undefined],
    [499, undefined],
    [500, undefined],
    [502, undefined],
    [503, undefined],
    [504, undefined],
  ])('answered with %i by a gateway may have been charged: %j', (status, charge) => {
    const call = { ...encode('user.handle', { params: { handle: 'a' } }), id: 'user.handle' as const };
    expect(decode(call, { status, headers: {}, text: '<html>' }, 0).charge).toEqual(charge);
    const free = { ...encode('me', {}), id: 'me' as const };
    expect(decode(free, { status, headers: {}, text: '<html>' }, 0).charge).toEqual({ cu: 0, reveals: 0 });
    expect(decode(call, error(500, 'INTERNAL_ERROR'), 0).charge).toEqual({ cu: 0, reveals: 0 });
  });

  test('whose answer has an unknown success status returns it, at an unknown cost', () => {
    const call = { ...encode('user.handle', { params: { handle: 'a' } }), id: 'user.handle' as const };
    for (const status of [200, 201, 299]) {
      expect(decode(call, { status, headers: {}, text: '<html>' }, 0)).toMatchObject({ charge: undefined });
    }
  });
});

describe('a rate limiter', () => {
  test('blocks a lane for at most a quarter of an hour, whatever a 429 says', async () => {
    const clock = virtualClock();
    const windows = ownWindows(clock);
    await createLimiter(windows, clock, async () => null).refused('key', 1e15);
    expect((await windows.take('key', 60)).waitMs).toBe(15 * 60_000);
  });

  test('requests the limit again only after a 429 of the key itself, at most once a minute', async () => {
    const clock = virtualClock();
    const windows = ownWindows(clock);
    await windows.learn('key', 300);
    let asked = 0;
    const limiter = createLimiter(windows, clock, async () => ++asked * 0 + 300);
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
