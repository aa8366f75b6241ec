import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TailRow } from '../../src/tail/row.ts';
import { orderedRows, settledRows } from '../../src/tail/walk/page-order.ts';

const SEED = process.env['SEED'] === undefined ? {} : { seed: Number(process.env['SEED']) };
const NOW = 1_700_000_000_000;
const row = (id: string, at: number | null): TailRow => ({ id, at, record: { id }, raw: null });
const page = (...times: readonly (number | null)[]) => times.map((at, i) => row(`r${i}`, at));
const timesOf = (rows: readonly TailRow[]) => rows.map(({ at }) => at);

describe('the times of a page', () => {
  test('are unchanged if they are in order, including ties', () => {
    const rows = page(NOW, NOW, NOW - 5, null, NOW - 5, NOW - 90_000_000);
    expect(timesOf(orderedRows(rows, NOW))).toEqual(timesOf(rows));
  });

  test.each([
    ['seconds', 1_700_000_000],
    ['zero', 0],
    ['a negative number', -1],
    ['years ahead', 4e12],
  ])('are ignored if they are %s; the row is placed below the next newer row', (_, odd) => {
    const rows = orderedRows(page(NOW - 1_000, NOW - 2_000, odd, NOW - 4_000, NOW - 5_000), NOW);
    expect(rows[2]).toMatchObject({ id: 'r2', at: null, atMost: NOW - 2_000 });
    expect(timesOf(rows)).toEqual([NOW - 1_000, NOW - 2_000, null, NOW - 4_000, NOW - 5_000]);
  });

  test('are accepted if most of them are ahead of the local clock, which must then be wrong', () => {
    const rows = page(NOW, NOW - 1, NOW - 2);
    expect(timesOf(orderedRows(rows, 0))).toEqual(timesOf(rows));
  });

  test('never ascend after ordering, and no row is dropped', () => {
    const time = fc.option(
      fc.oneof(fc.nat(1_000), fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
    );
    fc.assert(
      fc.property(fc.array(time, { maxLength: 60 }), (times) => {
        const rows = orderedRows(page(...times), 1e9);
        expect(rows.map(({ id }) => id)).toEqual(times.map((_, i) => `r${i}`));
        const known = timesOf(rows).filter((at) => at !== null);
        expect(known).toEqual(known.toSorted((a, b) => b - a));
      }),
      SEED,
    );
  });

  test('are not settled for last rows that are more than an hour older than the row above', () => {
    const [day, hour] = [86_400_000, 3_600_000];
    expect(settledRows(page(NOW, NOW - 1, NOW - day))).toBe(2);
    expect(settledRows(page(NOW, NOW - day, NOW - 2 * day))).toBe(1);
    expect(settledRows(page(NOW, NOW - 1, NOW - hour))).toBe(3);
    expect(settledRows(page(NOW, NOW - day, NOW - day - 1, NOW - day - 2))).toBe(4);
    expect(settledRows(page(NOW))).toBe(1);
    expect(settledRows([])).toBe(0);
  });
});
