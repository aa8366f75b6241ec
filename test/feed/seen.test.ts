import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { steadyTime, watermarkOf } from '../../src/feed/watermark/mark.ts';
import { createSeen } from '../../src/feed/watermark/seen.ts';

describe('the memory of ids', () => {
  test('knows every id from its floor on, whatever comes in which order', () => {
    const step = fc.oneof(
      fc.record({ id: fc.integer({ min: 0, max: 60 }), at: fc.integer({ min: 0, max: 90_000 }) }),
      fc.record({ horizon: fc.integer({ min: 0, max: 90_000 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const seen = createSeen(Number.NEGATIVE_INFINITY, 1_000);
        const truth = new Map<string, number>();
        let floor = Number.NEGATIVE_INFINITY;
        for (const each of steps) {
          if ('horizon' in each) seen.forget(each.horizon);
          else if (each.at >= seen.floor) {
            const id = `${each.id}@${each.at}`;
            expect(seen.add(id, each.at, 0)).toBe(!truth.has(id));
            truth.set(id, each.at);
          }
          expect(seen.floor).toBeGreaterThanOrEqual(floor);
          floor = seen.floor;
        }
        const kept = [...truth].filter(([, at]) => at >= floor);
        for (const [id] of kept) expect(seen.has(id)).toBe(true);
        expect(new Set(seen.since(floor).map(([id]) => id))).toEqual(new Set(kept.map(([id]) => id)));
      }),
    );
  });

  test('lets go of what is older than its horizon, so that it stays small', () => {
    const seen = createSeen(Number.NEGATIVE_INFINITY, 1_000_000);
    for (let at = 0; at < 10_000_000; at += 100) {
      seen.add(`t${at}`, at, at);
      if (at % 60_000 === 0) seen.forget(at - 120_000);
    }
    expect(seen.size).toBeLessThan(4_000);
  });

  test('never holds more than its bound, and says through its floor what it let go', () => {
    const seen = createSeen(Number.NEGATIVE_INFINITY, 1_000);
    for (let at = 0; at < 100_000; at++) seen.add(`t${at}`, at, at);
    expect(seen.size).toBeLessThanOrEqual(1_000);
    expect(seen.floor).toBeGreaterThan(98_000);
    for (let at = seen.floor; at < 100_000; at++) expect(seen.has(`t${at}`)).toBe(true);
  });

  test('keeps posts without a time, which stand on top of the pages for good', () => {
    const seen = createSeen(Number.NEGATIVE_INFINITY, 1_000);
    seen.add('timeless', null, 5);
    seen.forget(1e9);
    seen.forget(2e9);
    expect(seen.has('timeless')).toBe(true);
    expect(seen.add('timeless', null, 2e9)).toBe(false);
    expect(seen.since(2e9)).toEqual([['timeless', null]]);
  });
});

describe('the watermark', () => {
  test('counts from the third newest post, so that one dated into the future ends no walk', () => {
    expect(steadyTime([9_999, 105, 104, 103])).toBe(104);
    expect(steadyTime([7])).toBe(7);
    expect(steadyTime([null, null])).toBeNull();
    const rows = [5, 4, 3, 2].map((at) => ({ id: `t${at}`, at, record: {}, raw: null }));
    expect(watermarkOf(rows)).toEqual({ top: { id: 't5', at: 5 }, base: 3 });
  });

  test('of an empty feed is nothing', () => {
    expect(watermarkOf([])).toEqual({ top: null, base: null });
  });
});
