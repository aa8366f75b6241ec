import { describe, expect, it } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import type { Ledger } from '../../../src/contract/ports/ledger.ts';
import { Spend } from '../../../src/core/spend/spend.ts';

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
  const spend = new Spend({ limit }, { acquire: async () => {} }, ledger);
  const reserve = (most: number, signal?: AbortSignal, isMinute = false) =>
    spend.reserve(
      { endpoint: 'e', bounds: bounds(most), lane: isMinute ? undefined : 'key' },
      signal,
    );
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
    expect(spend.spent).toMatchObject({ cu: 30_200, atMost: 30_200, inFlight: 0, calls: 2 });
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
    expect(spend.spent).toMatchObject({ cu: 10, atMost: 70, inFlight: 0, calls: 2 });
    expect(await reserve(31).catch(codeOf)).toBe(code);
  });

  it('counts each reservation once, however often it ends', async () => {
    const { spend, reserve } = run(100);
    const slot = await reserve(60);
    slot.settle(answered(50));
    slot.lose();
    slot.release();
    expect(spend.spent).toMatchObject({ cu: 50, atMost: 50, inFlight: 0, calls: 1 });
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
