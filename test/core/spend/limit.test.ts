import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import type { EndpointId } from '../../../src/contract/endpoints.ts';
import type { HttpAnswer, RequestParts } from '../../../src/contract/ports.ts';
import { decode, encode } from '../../../src/core/client/coding.ts';
import { broken, noAnswer, unreachable } from '../../../src/core/http/network-failures.ts';
import { createSpendLimit } from '../../../src/core/spend/limit.ts';
import { error, json, rig, user } from '../fakes.ts';

const seed = process.env['SEED'] ? { seed: Number(process.env['SEED']) } : {};
const bounds = (most: number) => ({ least: 0, most, reveals: 0 });
const codeOf = (reason: unknown) => (reason instanceof Failure ? reason.code : String(reason));

describe('a spending limit', () => {
  it('waits for calls in flight before it rejects a call, because they may cost less', async () => {
    const budget = createSpendLimit({ limit: 30_200 });
    const first = await budget.reserve(bounds(30_000));
    const second = budget.reserve(bounds(30_000));
    first.settle({ cu: 200 });
    (await second).settle({ cu: 30_000 });
    expect(budget.spent).toEqual({ cu: 30_200, atMost: 30_200, calls: 2 });
  });

  it('rejects a call once calls in flight have used what was left', async () => {
    const budget = createSpendLimit({ limit: 30_200 });
    const first = await budget.reserve(bounds(30_000));
    const second = budget.reserve(bounds(30_000)).catch(codeOf);
    const third = budget.reserve(bounds(200));
    first.settle({ cu: 30_000 });
    expect(await second).toBe('CEILING');
    (await third).settle({ cu: 200 });
  });

  it('keeps the reservation of a lost call, and releases that of an unsent one', async () => {
    const budget = createSpendLimit({ limit: 100 });
    (await budget.reserve(bounds(60))).lose();
    (await budget.reserve(bounds(40))).release();
    (await budget.reserve(bounds(40))).settle({ cu: 10 });
    expect(budget.spent).toEqual({ cu: 10, atMost: 70, calls: 2 });
    expect(await budget.reserve(bounds(31)).catch(codeOf)).toBe('CEILING');
  });

  it('counts each reservation once, however often it is settled', async () => {
    const budget = createSpendLimit({ limit: 100 });
    const reservation = await budget.reserve(bounds(60));
    reservation.settle({ cu: 50 });
    reservation.lose();
    reservation.release();
    expect(budget.spent).toEqual({ cu: 50, atMost: 50, calls: 1 });
  });

  it('releases the reservation of an aborted call, and admits the calls after it', async () => {
    const budget = createSpendLimit({ limit: 100 });
    const held = await budget.reserve(bounds(50));
    const stop = new AbortController();
    const big = budget.reserve(bounds(60), stop.signal).catch(codeOf);
    const small = budget.reserve(bounds(50));
    stop.abort('stopped');
    expect(await big).toBe('stopped');
    (await small).release();
    held.release();
  });

  it('without a maximum only counts', async () => {
    const budget = createSpendLimit();
    (await budget.reserve(bounds(1e12))).settle({ cu: 1e12 });
    expect(budget.spent.cu).toBe(1e12);
  });
});

/** The calls, answers and failures that the simulated service mixes. */
const asks: readonly [EndpointId, object][] = [
  ['user.handle', { params: { handle: 'a' } }],
  ['user.wallet', { params: { address: 'a' } }],
  ['user.id', { params: { id: user().id } }],
  ['user.resolve', { params: { handle: 'a' } }],
  ['thesis.all', { query: { limit: 50 } }],
  ['me', {}],
];
const page = { count: 0, hasMore: false, nextBefore: null, updatedAt: null, items: [] };
const ends = [
  'hit',
  'miss',
  'pending',
  'limited',
  'fault',
  'overload',
  'gateway',
  'quota',
  'garbled',
  'broken',
  'silent',
  'unreachable',
] as const;

describe('the cost of a run with a spending limit', () => {
  it('never exceeds the limit, whatever is answered, lost and retried concurrently', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 200_000 }),
        fc.array(fc.record({ ask: fc.nat({ max: asks.length - 1 }), lag: fc.nat({ max: 5 }) }), {
          maxLength: 40,
        }),
        fc.array(fc.constantFrom(...ends), { minLength: 1, maxLength: 60 }),
        async (maxCu, calls, script) => {
          let meter = 0;
          let turn = 0;
          const { client, clock } = rig(
            async ({ url, method, body }) => {
              const end = script[turn++ % script.length] ?? 'hit';
              const id = idOf(url);
              const call = { ...encode(id, askOf(id)), method, body };
              const most = call.bounds.most;
              await clock.sleep((turn * 7) % 50);
              const answered = (answer: HttpAnswer) => {
                const reading = decode(call, answer, 0);
                // This service charges the maximum cost for answers that cannot be read.
                meter += reading.charge?.cu ?? most;
                return answer;
              };
              switch (end) {
                case 'hit':
                  return answered(json(200, id === 'thesis.all' ? page : id === 'me' ? {} : user()));
                case 'miss':
                  return answered(error(404, 'NOT_OBSERVED'));
                case 'pending':
                  return answered(json(202, { pending: true, reason: 'queued', retryable: true }));
                case 'limited':
                  return error(429, 'RATE_LIMITED', { retryAfter: 1 });
                case 'fault':
                  return error(500, 'INTERNAL_ERROR');
                case 'overload':
                  return error(503, 'OVERLOADED');
                case 'gateway':
                  return answered({ status: 504, headers: {}, text: '<html>' });
                case 'quota':
                  return error(402, 'QUOTA_EXCEEDED');
                case 'garbled':
                  return answered({ status: 200, headers: {}, text: '{"half' });
                case 'broken':
                  meter += most;
                  throw broken('h', undefined);
                case 'silent':
                  meter += most;
                  throw noAnswer('h', 1);
                default:
                  throw unreachable('h', undefined);
              }
            },
            { maxCu, retries: 2 },
          );
          await Promise.allSettled(
            calls.map(async ({ ask, lag }) => {
              await clock.sleep(lag);
              const [id, asked] = asks[ask] ?? ['me', {}];
              await client.call(id, asked as RequestParts<typeof id>);
            }),
          );
          expect(meter).toBeLessThanOrEqual(maxCu);
          expect(client.spent.atMost).toBeLessThanOrEqual(maxCu);
          // The reported maximum is at least what was charged.
          expect(client.spent.atMost).toBeGreaterThanOrEqual(meter);
        },
      ),
      { ...seed, numRuns: 60 },
    );
  });
});

const idOf = (url: string): EndpointId => {
  if (url.includes('/resolve')) return 'user.resolve';
  if (url.includes('/handle/')) return 'user.handle';
  if (url.includes('/wallet/')) return 'user.wallet';
  if (url.includes('/id/')) return 'user.id';
  return url.includes('/thesis') ? 'thesis.all' : 'me';
};
const askOf = (id: EndpointId) =>
  (asks.find(([known]) => known === id)?.[1] ?? {}) as RequestParts<typeof id>;
