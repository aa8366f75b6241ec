import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSeen } from '../../../src/tail/seen/seen.ts';
import { steadyTime, watermarkOf } from '../../../src/tail/seen/watermark.ts';

describe('the memory of ids', () => {
  test('knows every id from its floor on, for any order of calls', () => {
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
            expect(seen.add(id, each.at)).toBe(!truth.has(id));
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

  test('forgets ids older than the horizon, so that it stays small', () => {
    const seen = createSeen(Number.NEGATIVE_INFINITY, 1_000_000);
    for (let at = 0; at < 10_000_000; at += 100) {
      seen.add(`t${at}`, at);
      if (at % 60_000 === 0) seen.forget(at - 120_000);
    }
    expect(seen.size).toBeLessThan(4_000);
  });

  test('never exceeds its size, and raises its floor when it forgets ids', () => {
    const seen = createSeen(Number.NEGATIVE_INFINITY, 1_000);
    for (let at = 0; at < 100_000; at++) seen.add(`t${at}`, at);
    expect(seen.size).toBeLessThanOrEqual(1_000);
    expect(seen.floor).toBeGreaterThan(98_000);
    for (let at = seen.floor; at < 100_000; at++) expect(seen.has(`t${at}`)).toBe(true);
  });

  test('forgets the older half only when it is full', () => {
    const seen = createSeen(Number.NEGATIVE_INFINITY, 10);
    for (let i = 1; i <= 9; i++) seen.add(`t${i}`, 100 * i);
    expect(seen.floor).toBe(Number.NEGATIVE_INFINITY);
    expect(seen.size).toBe(9);
    for (let i = 1; i <= 9; i++) expect(seen.has(`t${i}`)).toBe(true);
    seen.add('t10', 1_000);
    expect(seen.size).toBe(5);
    expect(seen.floor).toBe(501);
    expect(seen.since(0).map(([id]) => id)).toEqual(['t6', 't7', 't8', 't9', 't10']);
    for (let i = 1; i <= 10; i++) expect(seen.add(`t${i}`, 100 * i)).toBe(false);
  });

  test('remembers a late id for checkpoints, and never reports it as new again', () => {
    const seen = createSeen(Number.NEGATIVE_INFINITY, 1_000);
    seen.forget(1_000_000);
    expect(seen.add('late', 5)).toBe(true);
    for (let at = 1_000_000; at < 9_000_000; at += 10_000) {
      seen.add(`t${at}`, at);
      seen.forget(at);
    }
    expect(seen.add('late', 5)).toBe(false);
    expect(seen.since(8_990_000)).toEqual([
      ['t8990000', 8_990_000],
      ['late', 5],
    ]);
  });

  test('distinguishes known ids from new ones, before and after forgetting', () => {
    const seen = createSeen(Number.NEGATIVE_INFINITY, 1_000);
    const known = () => ['a', 'b', 'x'].map((id) => seen.add(id, id === 'x' ? null : 50_000));
    expect(known()).toEqual([true, true, true]);
    expect(seen.size).toBe(3);
    for (const horizon of [10_000, 20_000, 50_000]) {
      expect(known()).toEqual([false, false, false]);
      seen.forget(horizon);
      expect(known()).toEqual([false, false, false]);
      expect(seen.has('c')).toBe(false);
      expect(seen.size).toBe(3);
      expect(seen.since(50_000)).toHaveLength(3);
    }
    expect(seen.add('c', 60_000)).toBe(true);
    expect(seen.size).toBe(4);
    seen.forget(55_000);
    seen.forget(60_000);
    expect(seen.since(0)).toEqual([
      ['c', 60_000],
      ['x', null],
    ]);
    expect(seen.size).toBe(2);
  });

  test('moves its floor in steps of five seconds', () => {
    const seen = createSeen(10_000, 1_000);
    seen.forget(14_999);
    expect(seen.floor).toBe(10_000);
    seen.forget(15_000);
    expect(seen.floor).toBe(15_000);
  });

  test('remembers ten thousand posts without a time, then forgets the first', () => {
    const seen = createSeen(Number.NEGATIVE_INFINITY, 1_000);
    for (let i = 0; i <= 10_000; i++) expect(seen.add(`x${i}`, null)).toBe(true);
    expect(seen.size).toBe(10_000);
    expect([seen.has('x0'), seen.has('x1'), seen.has('x10000')]).toEqual([false, true, true]);
    expect(seen.floor).toBe(Number.NEGATIVE_INFINITY);
  });

  test('keeps posts without a time, because pages always list them first', () => {
    const seen = createSeen(Number.NEGATIVE_INFINITY, 1_000);
    seen.add('timeless', null);
    seen.forget(1e9);
    seen.forget(2e9);
    expect(seen.has('timeless')).toBe(true);
    expect(seen.add('timeless', null)).toBe(false);
    expect(seen.since(2e9)).toEqual([['timeless', null]]);
  });
});

describe('the watermark', () => {
  test('uses the time of the third newest post, so that a post dated into the future does not end walks early', () => {
    expect(steadyTime([9_999, 105, 104, 103])).toBe(104);
    expect(steadyTime([7])).toBe(7);
    expect(steadyTime([null, null])).toBeNull();
    expect(steadyTime([104, null, 9_999, 103, null, 1_000])).toBe(104);
    expect(steadyTime([5, 7])).toBe(5);
    expect(steadyTime([null, 5])).toBe(5);
    const rows = [5, 4, 3, 2].map((at) => ({ id: `t${at}`, at, record: {}, raw: null }));
    expect(watermarkOf(rows)).toEqual({ top: { id: 't5', at: 5 }, base: 3 });
  });

  test('of an empty feed is empty', () => {
    expect(watermarkOf([])).toEqual({ top: null, base: null });
  });
});
