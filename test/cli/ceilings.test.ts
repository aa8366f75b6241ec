import { describe, expect, test } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import type { Context } from '../../src/cli/context.ts';
import { approveTail } from '../../src/cli/spend/approve-tail.ts';
import { judge } from '../../src/cli/spend/estimate.ts';
import { preflight } from '../../src/cli/spend/preflight.ts';
import { stopAtThreshold } from '../../src/cli/spend/unbounded.ts';
import { anyMe } from '../e2e/service.ts';

interface Given {
  readonly confirmAbove?: number;
  readonly maxCu?: number;
  readonly yes?: boolean;
  readonly units?: number | null;
  readonly reveals?: number | null;
  readonly spent?: number;
}

/** The part of a context that spending checks use, with their notices and questions. */
function contextOf({
  confirmAbove = 100_000,
  maxCu,
  yes = false,
  units = 1e9,
  reveals = 1e9,
  spent = 0,
}: Given) {
  const said: string[] = [];
  const estimates: unknown[] = [];
  let asked = 0;
  const usage = { ...anyMe.usage, unitsRemaining: units, revealsRemaining: reveals };
  const context = {
    settings: { confirmAbove, maxCu },
    globals: { yes },
    spent,
    signal: new AbortController().signal,
    notice: (line: string) => said.push(line),
    async approve(estimate: { least: number; most: number | null }) {
      estimates.push(estimate);
      if (judge(estimate, { confirmAbove, maxCu, yes }) === 'ask')
        throw new Failure('confirm', 'ask', { code: 'ASK' });
    },
    client: async () => ({
      call: async () => {
        asked++;
        return { known: { ...anyMe, usage } };
      },
    }),
  };
  return { context: context as unknown as Context, said, estimates, asked: () => asked };
}
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: unknown) => (error instanceof Failure ? error.code : String(error)),
  );

describe('the check before an expensive run', () => {
  const dear = { least: 30_000, most: 100_001, reveals: 3 };

  test('asks the service above the confirmation threshold, but not at it', async () => {
    const cheap = contextOf({ yes: true });
    await preflight(cheap.context, { least: 1, most: 100_000, reveals: 1 }, 'this');
    expect(cheap.asked()).toBe(0);
    const costly = contextOf({ yes: true });
    await preflight(costly.context, dear, 'this');
    expect([costly.asked(), costly.said]).toEqual([1, []]);
    const endless = contextOf({ yes: true });
    await preflight(endless.context, { least: 0, most: null, reveals: null }, 'this');
    expect([endless.asked(), endless.said.length]).toEqual([1, 2]);
  });

  test('asks for confirmation before it asks the service', async () => {
    const unconfirmed = contextOf({});
    expect(await codeOf(preflight(unconfirmed.context, dear, 'this'))).toBe('ASK');
    expect(unconfirmed.asked()).toBe(0);
  });

  test.each([
    [29_999, 'QUOTA_EXCEEDED', 0],
    [30_000, 'ok', 1],
    [100_000, 'ok', 1],
    [100_001, 'ok', 0],
    [null, 'ok', 0],
  ])('with %s units left exits %s', async (units, code, lines) => {
    const { context, said } = contextOf({ yes: true, units });
    expect(await codeOf(preflight(context, dear, 'this'))).toBe(code);
    expect(said).toHaveLength(lines);
  });

  test.each([
    [2, 1],
    [3, 0],
    [null, 0],
  ])('with %s reveals left prints %i lines', async (reveals, lines) => {
    const { context, said } = contextOf({ yes: true, reveals });
    await preflight(context, dear, 'this');
    expect(said).toHaveLength(lines);
  });
});

describe('a walk without a known end', () => {
  const page = { rows: ['a'] };
  const feed = { page: async () => page };
  const walk = (given: Given) => {
    const { context } = contextOf(given);
    const guarded = stopAtThreshold(feed as never, context, 200) as unknown as typeof feed;
    return codeOf(guarded.page());
  };

  test.each([
    [{ spent: 99_800 }, 'ok'],
    [{ spent: 99_801 }, 'CONFIRM_ABOVE'],
    [{ spent: 99_801, yes: true }, 'ok'],
    [{ spent: 99_801, maxCu: 1_000_000 }, 'ok'],
    [{ confirmAbove: 0 }, 'CONFIRM_ABOVE'],
  ] as const)('with %j continues: %s', async (given, code) => {
    expect(await walk(given)).toBe(code);
  });
});

describe('the spending limit of a tail', () => {
  const socketMinute = 20_000 + 2 * 200;
  test('is the confirmation threshold if that covers the whole run', async () => {
    const { context, estimates } = contextOf({});
    expect(await approveTail(context, 60_001, 0, 200)).toBe(100_000);
    expect(estimates).toEqual([{ least: 20_000, most: 2 * socketMinute + 20 * 200 }]);
  });

  test('requires a confirmation if the threshold does not cover the run, or the run has no end', async () => {
    expect(await codeOf(approveTail(contextOf({}).context, 5 * 60_000, 0, 200))).toBe('ASK');
    expect(await codeOf(approveTail(contextOf({}).context, undefined, 10_000, 200))).toBe('ASK');
  });

  test('is --max-cu if given', async () => {
    expect(await approveTail(contextOf({ maxCu: 7 }).context, undefined, 0, 200)).toBe(7);
    expect(await approveTail(contextOf({ maxCu: 7, yes: true }).context, 60_000, 0, 200)).toBe(7);
  });

  test('is unlimited after --yes', async () => {
    expect(await approveTail(contextOf({ yes: true }).context, 60_000, 0, 200)).toBeUndefined();
    expect(await approveTail(contextOf({ yes: true }).context, undefined, 0, 200)).toBeUndefined();
  });

  test('includes a page per poll', async () => {
    const { context, estimates } = contextOf({});
    await approveTail(context, 60_000, 30_000, 10);
    expect(estimates).toEqual([{ least: 10, most: 2 * 10 + 10 + 20 * 10 }]);
  });

  test('is unlimited after a confirmation', async () => {
    const agree = (given: Given): Context => ({ ...contextOf(given).context, approve: async () => {} });
    expect(await approveTail(agree({}), 5 * 60_000, 0, 200)).toBeUndefined();
    expect(await approveTail(agree({}), undefined, 0, 200)).toBeUndefined();
    expect(await approveTail(agree({ confirmAbove: 24_400 }), 60_000, 0, 200)).toBe(24_400);
  });

  test('includes the pages of the backfill', async () => {
    const { context, estimates } = contextOf({});
    await approveTail(context, 60_000, 30_000, 10, 41);
    expect(estimates).toEqual([{ least: 10, most: 2 * 10 + 10 + (20 + 3) * 10 }]);
  });
});
