import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import type { EndpointId } from '../../../src/contract/endpoints.ts';
import type { HttpAnswer, Ledger, RequestParts } from '../../../src/contract/ports.ts';
import { decode, encode } from '../../../src/core/client/coding.ts';
import { broken, noAnswer, unreachable } from '../../../src/core/http/network-failures.ts';
import { createSpend } from '../../../src/core/spend/spend.ts';
import { error, json, rig, user } from '../fakes.ts';

const seed = process.env['SEED'] ? { seed: Number(process.env['SEED']) } : {};
const bounds = (most: number) => ({ least: 0, most, reveals: 0 });
const codeOf = (reason: unknown) => (reason instanceof Failure ? reason.code : String(reason));

/** A run with a spending limit and budgets of its own; `others` is what other runs have reserved. */
function runWith(limit: number | undefined, budget = Number.POSITIVE_INFINITY) {
  let used = 0;
  const others: { reserved: number; onBegin?: (() => Promise<void>) | undefined } = { reserved: 0 };
  const ledger: Ledger = {
    async begin({ most = 0 }) {
      const isOver = used + others.reserved + most > budget;
      await others.onBegin?.();
      if (isOver) throw new Failure('limit', 'refused', { code: 'BUDGET' });
      used += most;
      let end = async (cost: number) => {
        used += cost - most;
        end = async () => {};
      };
      return {
        settle: ({ cu, cuAtMost = 0 }) => end(cu + cuAtMost),
        lose: () => end(most),
        release: () => end(0),
      };
    },
  };
  const spend = createSpend({ limit }, { acquire: async () => {} }, ledger);
  const reserve = (most: number, signal?: AbortSignal, isMinute = false) =>
    spend.reserve({ endpoint: 'e', bounds: bounds(most), lane: isMinute ? undefined : 'key' }, signal);
  return { spend, reserve, others };
}
const answered = (cu: number) => ({ status: 200, cu });

describe.each([
  ['a spending limit', (amount: number) => runWith(amount), 'CEILING'],
  ['a budget', (amount: number) => runWith(undefined, amount), 'BUDGET'],
] as const)('%s', (_, run, code) => {
  it('lets a call wait for calls in flight, because they may cost less', async () => {
    const { spend, reserve } = run(30_200);
    const first = await reserve(30_000);
    const second = reserve(30_000);
    first.settle(answered(200));
    (await second).settle(answered(30_000));
    expect(spend.spent).toEqual({ cu: 30_200, atMost: 30_200, calls: 2 });
  });

  it('rejects a call once calls in flight have used what was left, and then admits a smaller one', async () => {
    const { reserve } = run(30_200);
    const first = await reserve(30_000);
    const second = reserve(30_000).catch(codeOf);
    const third = reserve(200);
    first.settle(answered(30_000));
    expect(await second).toBe(code);
    (await third).settle(answered(200));
  });

  it('keeps the reservation of a lost call, and releases that of an unsent one', async () => {
    const { spend, reserve } = run(100);
    (await reserve(60)).lose();
    (await reserve(40)).release();
    (await reserve(40)).settle(answered(10));
    expect(spend.spent).toEqual({ cu: 10, atMost: 70, calls: 2 });
    expect(await reserve(31).catch(codeOf)).toBe(code);
  });

  it('counts each reservation once, however often it ends', async () => {
    const { spend, reserve } = run(100);
    const slot = await reserve(60);
    slot.settle(answered(50));
    slot.lose();
    slot.release();
    expect(spend.spent).toEqual({ cu: 50, atMost: 50, calls: 1 });
    await reserve(50);
  });

  it('forgets an aborted call that waits, and admits the calls after it', async () => {
    const { reserve } = run(100);
    await reserve(50);
    const stop = new AbortController();
    const big = reserve(60, stop.signal).catch(codeOf);
    const small = reserve(50);
    await new Promise(setImmediate);
    stop.abort('stopped');
    expect(await big).toBe('stopped');
    await small;
  });

  it('does not wait for a minute of the WebSocket, whose cost is not known soon', async () => {
    const { reserve } = run(100);
    await reserve(60, undefined, true);
    expect(await reserve(50).catch(codeOf)).toBe(code);
  });
});

it('a call that was rejected while another one ended is tried again', async () => {
  const { reserve, others } = runWith(undefined, 100);
  const first = await reserve(60);
  others.onBegin = async () => {
    others.onBegin = undefined;
    first.settle(answered(10));
    await new Promise(setImmediate);
  };
  await reserve(60);
});

it('a call does not wait for the calls of other runs', async () => {
  const { reserve, others } = runWith(undefined, 100);
  others.reserved = 60;
  expect(await reserve(50).catch(codeOf)).toBe('BUDGET');
});

it('without limit and budget, calls are only counted', async () => {
  const { spend, reserve } = runWith(undefined);
  (await reserve(1e12)).settle(answered(1e12));
  expect(spend.spent.cu).toBe(1e12);
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
