import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import type { Context } from '../../../src/cli/context.ts';
import { preflight } from '../../../src/cli/spend/preflight.ts';

interface Given {
  readonly confirmAbove?: number;
  readonly maxCu?: number;
  readonly yes?: boolean;
  readonly units?: number | null;
  readonly reveals?: number | null;
}

const batch = { what: 'looking up 3 subjects', resume: () => 'run it again', hasMore: false };

/** The part of a context that spending checks use, with their notices and questions. */
function contextOf({ confirmAbove = 100_000, maxCu, yes = false, units = 1e9, reveals = 1e9 }: Given) {
  const said: string[] = [];
  const begun: string[] = [];
  let asked = 0;
  const context = {
    io: { stderr: {} },
    settings: { confirmAbove, maxCu },
    globals: { yes, sandbox: false },
    signal: new AbortController().signal,
    notice: (line: string) => said.push(line),
    permission: {
      limit: undefined,
      async approve({ most }: { most: number }) {
        if (most > confirmAbove && !yes && maxCu === undefined)
          throw new Failure('confirm', 'ask', { code: 'ASK' });
      },
      begin: () => begun.push('begun'),
    },
  };
  const client = {
    left: {
      get key() {
        return asked === 0 ? undefined : { units, reveals };
      },
      request: () => () => {},
    },
    async call() {
      asked++;
      return { record: {}, known: {} };
    },
  };
  return {
    context: { ...context, client: async () => client } as unknown as Context,
    said,
    begun,
    asked: () => asked,
  };
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: unknown) => (error instanceof Failure ? error.code : String(error)),
  );

describe('the check before an expensive run', () => {
  const ask = { params: { address: 'a' } };
  const dear = [{ id: 'user.wallet', ask, times: 3, least: 30_000, most: 100_001 }] as const;

  test('requests the balance above the confirmation threshold, but not at it', async () => {
    const cheap = contextOf({ yes: true });
    await preflight(cheap.context, [{ id: 'user.wallet', ask, most: 100_000 }], batch);
    expect(cheap.asked()).toBe(0);
    const costly = contextOf({ yes: true });
    await preflight(costly.context, dear, batch);
    expect([costly.asked(), costly.said]).toEqual([1, []]);
  });

  test('starts a run without a known end', async () => {
    const endless = contextOf({});
    await preflight(endless.context, [], { ...batch, hasMore: true });
    expect([endless.asked(), endless.said, endless.begun]).toEqual([0, [], ['begun']]);
  });

  test('asks for confirmation before it requests the balance', async () => {
    const unconfirmed = contextOf({});
    expect(await codeOf(preflight(unconfirmed.context, dear, batch))).toBe('ASK');
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
    expect(await codeOf(preflight(context, dear, batch))).toBe(code);
    expect(said).toHaveLength(lines);
  });

  test('compares what is left with --max-cu, if that is less than the estimate', async () => {
    const { context, said } = contextOf({ maxCu: 500, units: 600 });
    expect([await codeOf(preflight(context, dear, batch)), said]).toEqual(['ok', []]);
    const poor = contextOf({ maxCu: 500, units: 400 });
    expect(await codeOf(preflight(poor.context, dear, batch))).toBe('QUOTA_EXCEEDED');
  });

  test.each([
    [2, 1],
    [3, 0],
    [null, 0],
  ])('with %s reveals left prints %i lines', async (reveals, lines) => {
    const { context, said } = contextOf({ yes: true, reveals });
    await preflight(context, dear, batch);
    expect(said).toHaveLength(lines);
  });
});
