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

  test.each([
    ['at the confirmation threshold', 100_000, { yes: true }, 'ok', 0],
    ['above it', 100_001, { yes: true }, 'ok', 1],
    ['before it is confirmed', 100_001, {}, 'ASK', 0],
  ])('%s requests the balance only if that matters', async (_, most, given, code, asked) => {
    const run = contextOf(given);
    const planned = [{ id: 'user.wallet', ask, times: 3, most }] as const;
    expect(await codeOf(preflight(run.context, planned, batch))).toBe(code);
    expect([run.asked(), run.said, run.begun]).toEqual([asked, [], []]);
  });

  test('starts a run without a known end', async () => {
    const endless = contextOf({});
    await preflight(endless.context, [], { ...batch, hasMore: true });
    expect([endless.asked(), endless.said, endless.begun]).toEqual([0, [], ['begun']]);
  });

  test.each([
    [{ yes: true, units: 29_999 }, 'QUOTA_EXCEEDED', 0],
    [{ yes: true, units: 30_000 }, 'ok', 1],
    [{ yes: true, units: 100_000 }, 'ok', 1],
    [{ yes: true, units: 100_001 }, 'ok', 0],
    [{ yes: true, units: null }, 'ok', 0],
    // If --max-cu is less than the estimate, what is left need only cover --max-cu.
    [{ maxCu: 500, units: 600 }, 'ok', 0],
    [{ maxCu: 500, units: 400 }, 'QUOTA_EXCEEDED', 0],
    [{ yes: true, reveals: 2 }, 'ok', 1],
    [{ yes: true, reveals: 3 }, 'ok', 0],
    [{ yes: true, reveals: null }, 'ok', 0],
  ])('with %j left exits %s and prints %i lines', async (given, code, lines) => {
    const { context, said } = contextOf(given);
    expect(await codeOf(preflight(context, dear, batch))).toBe(code);
    expect(said).toHaveLength(lines);
  });
});
