import { describe, expect, test } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import type { FeedPage } from '../../src/tail/ports.ts';
import type { TailRow } from '../../src/tail/row.ts';
import { createPollSizer } from '../../src/tail/spend/pace.ts';
import { createRowStack, type RowStack } from '../../src/tail/walk/row-stack.ts';
import { type WalkBounds, walk } from '../../src/tail/walk/walk.ts';

interface Ask {
  readonly before?: string;
  readonly limit: number;
}
type Answer = FeedPage | Failure | (() => FeedPage);

const row = (id: string, at: number | null): TailRow => ({ id, at, record: { id }, raw: null });
/** Rows `t<to>` down to `t<from>`; the number is the post time in seconds. */
const down = (to: number, from: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => row(`t${to - i}`, 1_000 * (to - i)));
const page = (rows: readonly TailRow[], hasMore = true, nextBefore = rows.at(-1)?.id ?? null): FeedPage => ({
  rows,
  hasMore,
  nextBefore,
  cu: 200,
});
const failure = (kind: Failure['kind'], fields: Partial<Failure> = {}) =>
  new Failure(kind, `failed: ${kind}`, { code: 'CODE', retryable: true, ...fields });
const unknownCursor = failure('usage');

interface Given {
  readonly isKnown?: (row: TailRow) => boolean;
  readonly beyond?: WalkBounds['beyond'];
  readonly keep?: WalkBounds['keep'];
  readonly target?: number;
  readonly tries?: number;
  readonly afford?: (cu: number) => boolean;
  /** The duration of each response. */
  readonly takesMs?: number;
  readonly controller?: AbortController;
}

/** Walks over prepared answers, which do not depend on the requests, and records what the walk did. */
async function walked(answers: readonly Answer[], given: Given = {}) {
  const asks: Ask[] = [];
  const slept: number[] = [];
  const shown: string[] = [];
  const waits: string[] = [];
  let now = 0;
  let routes = 0;
  let paid = 0;
  let lost = 0;
  let asleep = false;
  const store = createRowStack(undefined);
  /** Completes each operation late, so that a missing `await` shows. */
  const stack: RowStack = {
    ...store,
    async push(rows) {
      await new Promise(setImmediate);
      await store.push(rows);
    },
    async clear() {
      await new Promise(setImmediate);
      await store.clear();
    },
  };
  const { signal } = given.controller ?? new AbortController();
  const result = await walk({
    clock: {
      now: () => now,
      mono: () => now,
      async sleep(ms, waker) {
        waker?.throwIfAborted();
        slept.push(ms);
        asleep = true;
        await new Promise(setImmediate);
        asleep = false;
        now += ms;
      },
    },
    random: () => 0.5,
    source: {
      async page(ask) {
        if (asleep) throw new Error('a request during a wait');
        asks.push(ask);
        now += given.takesMs ?? 0;
        const answer = answers[asks.length - 1];
        if (answer === undefined) throw new Error('an unexpected request');
        if (answer instanceof Failure) throw answer;
        return typeof answer === 'function' ? answer() : answer;
      },
      price: (limit) => 10 * limit,
      sizes: { step: 20, max: 100 },
    },
    sizer: createPollSizer({ step: 20, max: 100 }),
    stack,
    backoff: { firstMs: 1_000, maxMs: 4_000 },
    tries: () => (paid > 0 ? Number.POSITIVE_INFINITY : (given.tries ?? Number.POSITIVE_INFINITY)),
    route() {
      routes++;
      return {
        beyond(each) {
          shown.push(each.id);
          return given.beyond?.(each) ?? false;
        },
        keep: given.keep ?? ((_, beyond) => !beyond),
        target: () => given.target ?? null,
        isKnown: given.isKnown ?? (() => true),
      };
    },
    nameless: () => {},
    afford: given.afford ?? (() => true),
    paid: (cu) => {
      paid += cu;
    },
    lost: (cu) => {
      lost += cu;
    },
    wait: (ms, failure) => waits.push(`${ms} ${failure.message}`),
    signal,
  });
  const kept: string[] = [];
  for (let rows = await stack.take(); rows.length > 0; rows = await stack.take())
    kept.push(...rows.map(({ id }) => id));
  return { result, asks, slept, shown, waits, routes, paid, lost, kept, now };
}

const idsOf = (rows: readonly TailRow[]) => rows.map(({ id }) => id);
const older = (at: number) => (each: TailRow) => each.at !== null && each.at < at;

describe('a walk', () => {
  test('follows the cursor to the page with the first row beyond its bounds, and stops there', async () => {
    const { result, asks, kept, shown, paid } = await walked([page(down(9, 7)), page(down(6, 3))], {
      beyond: older(5_000),
    });
    expect(asks.map(({ before }) => before)).toEqual([undefined, 't7']);
    expect(asks[0]).not.toHaveProperty('before');
    expect(kept).toEqual(['t5', 't6', 't7', 't8', 't9']);
    // Rows after the first one beyond the bounds are beyond them too.
    expect(shown).toEqual(['t9', 't8', 't7', 't6', 't5', 't4']);
    expect(result).toMatchObject({ cut: undefined, failure: undefined, pages: 2, rows: 7 });
    expect(result.reached).toEqual({ id: 't3', at: 3_000 });
    expect(idsOf(result.first)).toEqual(idsOf(down(9, 3)));
    expect(paid).toBe(400);
  });

  test('ends where the feed ends', async () => {
    const { result, asks } = await walked([page(down(9, 7)), page(down(6, 1), false, null)]);
    expect(asks).toHaveLength(2);
    expect(result).toMatchObject({ cut: undefined, rows: 9 });
  });

  test('ends after one page if the feed is empty', async () => {
    const { result, asks } = await walked([page([], false)]);
    expect(asks).toHaveLength(1);
    expect(result).toMatchObject({ cut: undefined, reached: null, first: [], pages: 1 });
  });

  test('continues from the oldest row if the next cursor is missing', async () => {
    const { asks } = await walked([page(down(9, 7), true, null), page(down(6, 5), false)]);
    expect(asks.map(({ before }) => before)).toEqual([undefined, 't7']);
  });

  test('determines its bounds once, after its first page, and dates from the request of that page', async () => {
    const { result, routes } = await walked([page([]), page(down(9, 7)), page(down(6, 5), false)], {
      takesMs: 100,
    });
    expect(routes).toBe(1);
    // The first page was empty; the second one was requested after a wait.
    expect(result.startedAt).toBe(100 + 500);
  });

  test('returns the ten newest rows that have a time', async () => {
    const timeless = Array.from({ length: 12 }, (_, i) => row(`x${i}`, null));
    const { result } = await walked([
      ...[page(timeless), page(down(40, 35)), page(down(34, 20))],
      page(down(19, 18), false),
    ]);
    expect(idsOf(result.first)).toEqual(idsOf(down(40, 31)));
    const { result: allTimeless } = await walked([page(timeless, false)]);
    expect(idsOf(allTimeless.first)).toEqual(idsOf(timeless.slice(0, 10)));
    const { result: mixed } = await walked([page([row('x', null), row('a', 5)], false)]);
    expect(idsOf(mixed.first)).toEqual(['a']);
  });

  test('requests as many rows as it expects', async () => {
    const limits = async (target: number | undefined, ...pages: (readonly TailRow[])[]) => {
      const answers = [...pages.map((rows) => page(rows)), page([], false)];
      const { asks } = await walked(answers, target === undefined ? {} : { target });
      return asks.map(({ limit }) => limit);
    };
    // Twenty rows span 19 seconds.
    expect(await limits(42_000, down(99, 80))).toEqual([20, 40]);
    expect(await limits(62_000, down(99, 80))).toEqual([20, 20]);
    expect(await limits(61_500, down(99, 80))).toEqual([20, 20]);
    expect(await limits(61_000, down(99, 80))).toEqual([20, 40]);
    expect(await limits(85_000, down(99, 80))).toEqual([20, 20]);
    expect(await limits(undefined, down(99, 80))).toEqual([20, 20]);
    const timeless = Array.from({ length: 20 }, (_, i) => row(`x${i}`, null));
    expect(await limits(42_000, timeless)).toEqual([20, 20]);
    expect(await limits(62_000, [row('x', null), ...down(99, 81)])).toEqual([20, 40]);
    expect(await limits(63_500, [row('x', null), ...down(99, 81)])).toEqual([20, 20]);
  });

  test('doubles the limit if all posts share a time, and learns the maximum of the service', async () => {
    const tied = Array.from({ length: 40 }, (_, i) => row(`tie${i}`, 5_000));
    const { asks } = await walked([page(down(99, 80)), page(tied), page(down(4, 1), false)], {
      target: 1_000,
    });
    expect(asks.map(({ limit }) => limit)).toEqual([20, 40, 60]);
    const short = [page(down(99, 80)), page(down(79, 60)), page(down(59, 41), false)];
    const { asks: small } = await walked(short, { target: 1_000 });
    expect(small.map(({ limit }) => limit)).toEqual([20, 40, 20]);
  });
});

describe('a page that claims to be the last', () => {
  const unknown = { target: 1_000, isKnown: ({ at }: TailRow) => at !== null && at <= 10_000 };

  test('is checked with another request if it is full', async () => {
    const answers = [page(down(99, 80), false), page(down(79, 60), false), page(down(59, 10), false)];
    const { result, asks, kept } = await walked([...answers, page([], false)], unknown);
    expect(asks.map(({ before }) => before)).toEqual([undefined, 't80', 't60', 't10']);
    expect(kept).toHaveLength(90);
    expect(result).toMatchObject({ cut: undefined, rows: 90 });
  });

  test('is not trusted if known posts are missing', async () => {
    const denied = [page(down(99, 80), false), page([], false)];
    const { result } = await walked([...denied, ...denied], unknown);
    expect(result).toMatchObject({ cut: 'denied', reached: { id: 't80' } });
  });

  test('is trusted if it is short and the next page confirms it', async () => {
    const { result, asks } = await walked([page(down(99, 90), false), page([], false)], unknown);
    expect(asks).toHaveLength(2);
    expect(result.cut).toBeUndefined();
    const whole = await walked([page(down(15, 5), false)], unknown);
    expect([whole.asks.length, whole.result.cut]).toEqual([1, undefined]);
  });
});

describe('a page that claims to be the last and ends with a time that contradicts its position', () => {
  const odd = [...down(20_000, 19_982), row('odd', -1)];
  const bounds = { beyond: older(19_970_000), isKnown: ({ at }: TailRow) => at !== null && at <= 19_975_000 };

  test('does not end the walk', async () => {
    const answers = [page(odd, false), page(down(19_981, 19_962))];
    const { result, asks, kept } = await walked(answers, bounds);
    expect(asks).toHaveLength(2);
    expect(kept.reverse()).toEqual([...idsOf(odd), ...idsOf(down(19_981, 19_970))]);
    expect(result).toMatchObject({ cut: undefined, rows: 40 });
  });

  test('does not end the walk if it is short either', async () => {
    const answers = [page(odd.slice(10), false), page(down(19_981, 19_962))];
    const { asks, kept } = await walked(answers, bounds);
    expect(asks).toHaveLength(2);
    expect(kept).toContain('t19970');
  });

  test('delivers the row with that time if there are no older rows', async () => {
    const first = row('first', 3);
    const whole = { isKnown: ({ id }: TailRow) => id === 't19990', keep: () => true };
    const { result, asks, kept } = await walked([page([...odd.slice(10), first], false)], whole);
    expect(asks).toHaveLength(1);
    expect(kept).toContain('first');
    expect(result).toMatchObject({ cut: undefined, rows: 11 });
  });
});

describe('pages without progress', () => {
  test('repeat the request after an empty page that claims to have more', async () => {
    const { result, asks, slept, kept } = await walked([
      page(down(9, 7)),
      page([], true, 't2'),
      page([], true, null),
      page(down(6, 5), false),
    ]);
    expect(asks.map(({ before }) => before)).toEqual([undefined, 't7', 't7', 't7']);
    expect(slept).toHaveLength(2);
    expect(kept).toEqual(['t5', 't6', 't7', 't8', 't9']);
    expect(result).toMatchObject({ cut: undefined, pages: 4, rows: 5 });
  });

  test('restart the walk after three empty pages in a row, and end it after three more', async () => {
    const empty = page([], true);
    const { result, asks } = await walked([
      page(down(9, 7)),
      ...Array(3).fill(empty),
      ...Array(3).fill(empty),
    ]);
    expect(asks.map(({ before }) => before)).toEqual([
      undefined,
      't7',
      't7',
      't7',
      undefined,
      undefined,
      undefined,
    ]);
    expect(result).toMatchObject({ cut: 'stuck', rows: 0, pages: 3 });
  });

  test('do not end the walk if pages with rows are in between', async () => {
    const empty = page([], true);
    const { result } = await walked([
      ...[empty, empty, page(down(9, 7))],
      ...[empty, empty, page(down(6, 5))],
      ...[empty, empty, page(down(4, 3), false)],
    ]);
    expect(result).toMatchObject({ cut: undefined, rows: 7 });
  });

  test('restart the walk from scratch if a cursor repeats', async () => {
    const { result, asks, kept, routes } = await walked([
      ...[page(down(9, 7)), page(down(6, 5), true, 't7')],
      ...[page(down(9, 7)), page(down(6, 5), false)],
    ]);
    expect(asks.map(({ before }) => before)).toEqual([undefined, 't7', undefined, 't7']);
    expect(kept).toEqual(['t5', 't6', 't7', 't8', 't9']);
    expect(result).toMatchObject({ cut: undefined, rows: 5, pages: 2 });
    expect(routes).toBe(2);
  });

  test('end the walk if a cursor repeats again, and report how far it came', async () => {
    const attempt = [page(down(9, 7)), page(down(6, 5), true, 't7')];
    const { result, asks, kept } = await walked([...attempt, ...attempt]);
    expect(asks).toHaveLength(4);
    expect(result).toMatchObject({ cut: 'stuck', reached: { id: 't5', at: 5_000 } });
    expect(kept).toEqual(['t5', 't6', 't7', 't8', 't9']);
  });

  test('end the walk after three pages without new rows, even if their cursors differ', async () => {
    const same = (cursor: string) => page(down(9, 7), true, cursor);
    const attempt = [same('t7'), same('a'), same('b'), same('c')];
    const { result, asks, kept } = await walked([...attempt, ...attempt]);
    expect(asks).toHaveLength(8);
    expect(result).toMatchObject({ cut: 'stuck', rows: 3 });
    expect(kept).toEqual(['t7', 't8', 't9']);
  });
});

describe('a cursor that the service no longer knows', () => {
  test('is replaced by the rows above it, and the overlap is not delivered twice', async () => {
    const { result, asks, kept } = await walked([
      page(down(9, 5)),
      ...[unknownCursor, unknownCursor],
      page(down(6, 3), false),
    ]);
    expect(asks.map(({ before }) => before)).toEqual([undefined, 't5', 't6', 't7']);
    expect(kept).toEqual(['t3', 't4', 't5', 't6', 't7', 't8', 't9']);
    expect(result).toMatchObject({ cut: undefined, rows: 7, pages: 2 });
  });

  test('leaves rows that are new within the overlap to a later walk, which keeps the order', async () => {
    const [t7, t6, t5, t4] = down(7, 4);
    if (!t7 || !t6 || !t5 || !t4) throw new Error('four rows');
    const { kept, shown } = await walked([
      page([t7, t6, t5]),
      unknownCursor,
      page([row('late', 5_500), t5, t4], false),
    ]);
    expect(kept).toEqual(['t4', 't5', 't6', 't7']);
    expect(shown).not.toContain('late');
  });

  test('restarts the walk once if three other rows are unknown too', async () => {
    const four = Array<Failure>(4).fill(unknownCursor);
    const { result, asks, kept } = await walked([
      ...[page(down(9, 1)), ...four],
      ...[page(down(19, 11)), page(down(10, 8), false)],
    ]);
    expect(asks.map(({ before }) => before)).toEqual([undefined, 't1', 't2', 't3', 't4', undefined, 't11']);
    expect(kept[0]).toBe('t8');
    expect(kept).toHaveLength(12);
    expect(result.cut).toBeUndefined();
    const { result: ended } = await walked([page(down(9, 1)), ...four, page(down(9, 1)), ...four]);
    expect(ended).toMatchObject({ cut: 'cursor', reached: { id: 't1', at: 1_000 } });
  });

  test('is not the reason for a rejected first page, whose failure is thrown', async () => {
    await expect(walked([unknownCursor])).rejects.toBe(unknownCursor);
  });
});

describe('a page that fails', () => {
  test.each([
    ['network', { code: 'UNREACHABLE' }, 0],
    ['network', { code: 'BROKEN' }, 200],
    ['answer', {}, 200],
    ['service', {}, 0],
  ] as const)('is requested again: %s %j', async (kind, fields, counted) => {
    const { asks, lost, paid, slept, waits } = await walked([
      ...[failure(kind, fields), failure(kind, fields)],
      page(down(9, 7), false),
    ]);
    expect(asks).toHaveLength(3);
    expect(slept).toEqual([500, 1_000]);
    expect(waits).toEqual([`500 failed: ${kind}`, `1000 failed: ${kind}`]);
    // Possible charges of lost pages are counted separately.
    expect({ lost, paid }).toEqual({ lost: 2 * counted, paid: 200 });
  });

  test('waits at least as long as the service states, every time', async () => {
    const busy = failure('rate', { retryAfter: 7 });
    const { slept, lost } = await walked([...Array(5).fill(busy), page(down(9, 7), false)], { tries: 2 });
    expect(slept).toEqual([7_000, 7_000, 7_000, 7_000, 7_000]);
    expect(lost).toBe(0);
    const { slept: own } = await walked([failure('rate'), failure('rate'), page(down(9, 7), false)]);
    expect(own).toEqual([500, 1_000]);
  });

  test('resets the backoff after a page', async () => {
    const { slept } = await walked([
      ...[failure('service'), failure('service'), page(down(9, 7))],
      ...[failure('service'), page(down(6, 5), false)],
    ]);
    expect(slept).toEqual([500, 1_000, 500]);
  });

  test('limits the attempts for the first page only', async () => {
    const broken = failure('service');
    await expect(walked([broken, broken, broken], { tries: 3 })).rejects.toBe(broken);
    const { result } = await walked(
      [broken, broken, page(down(9, 7)), ...Array(5).fill(broken), page([], false)],
      { tries: 3 },
    );
    expect(result.cut).toBeUndefined();
  });

  test.each([
    failure('service', { retryable: false }),
    failure('auth'),
    failure('forbidden'),
    failure('missing'),
    new TypeError('a mistake'),
  ])('fails the walk immediately if a retry cannot help: %s', async (error) => {
    const answer = () => {
      throw error;
    };
    await expect(walked([page(down(9, 7)), answer])).rejects.toBe(error);
  });

  test('ends with the signal even if the page failed for another reason', async () => {
    const controller = new AbortController();
    const stopped = new Error('stopped');
    const answer = () => {
      controller.abort(stopped);
      throw failure('auth');
    };
    await expect(walked([answer], { controller })).rejects.toBe(stopped);
  });
});

describe('a walk that cannot be paid', () => {
  test('does not start', async () => {
    const prices: number[] = [];
    const afford = (cu: number) => prices.push(cu) === 0;
    const { result, asks } = await walked([], { afford });
    expect(asks).toHaveLength(0);
    expect(prices).toEqual([200]);
    expect(result).toMatchObject({ cut: 'ceiling', failure: undefined, pages: 0, reached: null });
  });

  test('counts every attempt, and reports how far it came', async () => {
    let left = 3;
    const { result, asks } = await walked([page(down(9, 7)), failure('answer'), failure('answer')], {
      afford: () => left-- > 0,
    });
    expect(asks).toHaveLength(3);
    expect(result).toMatchObject({ cut: 'ceiling', pages: 1, reached: { id: 't7', at: 7_000 } });
  });

  test.each([
    ['quota', 'quota'],
    ['limit', 'ceiling'],
  ] as const)('ends with the reason of the failure: %s', async (kind, cut) => {
    const error = failure(kind);
    const { result, lost } = await walked([page(down(9, 7)), error]);
    expect(result).toMatchObject({ cut, rows: 3 });
    expect(result.failure).toBe(error);
    expect(lost).toBe(0);
  });
});
