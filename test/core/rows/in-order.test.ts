import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { inOrder } from '../../../src/core/rows/in-order.ts';
import { MemoryRows } from '../../../src/core/rows/memory-rows.ts';

async function gather(results: AsyncIterable<number>) {
  const rows: number[] = [];
  try {
    for await (const row of results) rows.push(row);
    return { rows, error: undefined };
  } catch (error) {
    return { rows, error };
  }
}

/** Rows whose values are their numbers, answered in batches. */
function source(size: number, batches: readonly (readonly number[])[], ended?: unknown) {
  const rows = new MemoryRows<number>(size, (cached) => cached.map((row) => ({ row, value: row })));
  const valuesOf = (numbers: readonly number[]) => numbers.map((row) => ({ row, value: row }));
  const left = [...batches];
  const story: string[] = [];
  const step = async () => {
    const batch = left.shift();
    if (batch === undefined) {
      if (ended !== undefined) throw ended;
      return false;
    }
    story.push('step');
    rows.take(valuesOf(batch));
    return true;
  };
  const results = inOrder(rows.states, { resultOf: (row) => rows.read(row), step });
  return {
    rows,
    results,
    story,
    cache: (cached: readonly number[]) => rows.cached(valuesOf(cached)),
  };
}

test('yields every value once and in order, whatever the order in which requested ones arrive', async () => {
  const cases = fc.record({
    size: fc.integer({ min: 0, max: 40 }),
    cached: fc.func(fc.boolean()),
    batch: fc.integer({ min: 1, max: 7 }),
    seed: fc.integer(),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ size, cached, batch, seed }) => {
      const all = Array.from({ length: size }, (_, row) => row);
      const place = (row: number) => ((row * 7919 + seed) % 101) + 101;
      const open = all.filter((row) => !cached(row));
      open.sort((one, other) => place(one) - place(other));
      const batches = open.flatMap((_, at) =>
        at % batch === 0 ? [open.slice(at, at + batch)] : [],
      );
      const { results, cache, rows } = source(size, batches);
      cache(all.filter((row) => cached(row)));
      expect(await gather(results)).toEqual({ rows: all, error: undefined });
      // What was printed is in memory no longer.
      expect(open.map((row) => rows.read(row))).toEqual(open.map(() => undefined));
    }),
  );
});

test('yields what arrived, and what is cached, before the failure that ended the requests', async () => {
  const ended = new Failure('quota', 'nothing is left', { code: 'QUOTA_EXCEEDED' });
  const { results, cache } = source(6, [[3, 0]], ended);
  cache([5]);
  expect(await gather(results)).toEqual({ rows: [0, 3, 5], error: ended });
});

test('reads cached values in slices, each once', () => {
  const slices: number[] = [];
  const rows = new MemoryRows<number>(5_001, (cached) => {
    slices.push(cached.length);
    return cached.map((row) => ({ row, value: row }));
  });
  const all = Array.from({ length: 5_001 }, (_, row) => row);
  rows.cached(all.filter((row) => row !== 7).map((row) => ({ row, value: row })));
  expect(all.map((row) => rows.read(row))).toEqual(all.map((row) => (row === 7 ? undefined : row)));
  expect(slices).toEqual([2_000, 2_000, 1_000]);
});

test('asks for nothing before it meets an open row, and for no more when the reader leaves', async () => {
  const { results, story, cache } = source(4, [[1, 2], [3]]);
  cache([0]);
  expect([(await results.next()).value, story.length]).toEqual([0, 0]);
  expect([(await results.next()).value, story.length]).toEqual([1, 1]);
  await results.return();
  expect(story.length).toBe(1);
});

test('yields nothing after Ctrl-C', async () => {
  const ended = new Error('interrupted');
  const { results, cache } = source(4, [[1]], ended);
  cache([0, 3]);
  expect(await gather(results)).toEqual({ rows: [0, 1], error: ended });
});
