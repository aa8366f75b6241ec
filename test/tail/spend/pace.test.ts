import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cu } from '../../../src/contract/prices.ts';
import {
  createMargin,
  createPollSizer,
  createRate,
  leastSeconds,
  pageRows,
  pollCost,
  pollPerMinute,
  pollSeconds,
} from '../../../src/tail/spend/pace.ts';

describe('polling', () => {
  test('costs one block while twenty rows contain all new posts and one known post', () => {
    expect(pollCost(0.2, 10)).toBe(200);
    expect(pollCost(1.9, 10)).toBe(200);
    expect(pollCost(1.91, 10)).toBe(400);
  });

  test('of a slow feed costs 12,000/T CU per minute', () => {
    expect(pollPerMinute(0.1, 10)).toBe(1_200);
    expect(pollPerMinute(0.1, 30)).toBe(400);
  });

  test('costs as much as the socket at one poll every 0.6 s', () => {
    expect(pollPerMinute(0, 0.6)).toBeCloseTo(cu.socketMinute);
  });

  test('costs as much as the socket from about 33 posts per second on, for any lag', () => {
    expect(pollPerMinute(33, pollSeconds(33, 60, 1))).toBeLessThan(cu.socketMinute * 1.02);
    expect(pollPerMinute(34, pollSeconds(34, 60, 1))).toBeGreaterThan(cu.socketMinute);
  });

  test('polls earlier than the target lag if whole blocks make that cheaper', () => {
    expect(pollSeconds(1, 30, 1)).toBeCloseTo(19);
    expect(pollPerMinute(1, 19)).toBeCloseTo(631.58, 1);
    expect(pollSeconds(0.2, 30, 1)).toBe(30);
    expect(pollSeconds(1, 20, 1)).toBeCloseTo(19);
    expect(pollSeconds(1, 19.5, 1)).toBeCloseTo(19);
    expect(pollSeconds(1, 50, 1)).toBeCloseTo(39);
  });

  test('polls at the target lag if whole blocks are not cheaper', () => {
    expect(pollSeconds(1, 58, 1)).toBeCloseTo(39);
    expect(pollSeconds(1, 58.9, 1)).toBe(58.9);
    expect(pollSeconds(0, 30, 1)).toBe(30);
  });

  test('is never faster than the key allows', () => {
    expect(pollSeconds(1, 2, 30)).toBe(30);
    expect(pollSeconds(1, 30, 20)).toBe(30);
    expect(leastSeconds(null)).toBe(1);
  });

  test('never costs more and is never slower than at the target lag, and never costs less than 10 CU per post', () => {
    const rate = fc.double({ min: 0, max: 100, noNaN: true });
    const lag = fc.double({ min: 1, max: 600, noNaN: true });
    fc.assert(
      fc.property(rate, lag, (r, t) => {
        const seconds = pollSeconds(r, t, 1);
        expect(seconds).toBeLessThanOrEqual(t);
        expect(pollPerMinute(r, seconds)).toBeLessThanOrEqual(pollPerMinute(r, t) + 1e-6);
        expect(pollPerMinute(r, seconds)).toBeGreaterThanOrEqual(10 * 60 * r);
      }),
    );
  });

  test('uses at most half of the rate limit of the key', () => {
    expect(leastSeconds(60)).toBe(2);
    expect(pollSeconds(0.1, 0.5, leastSeconds(60))).toBe(2);
  });
});

describe('the size of a page', () => {
  test.each([
    [0, 20],
    [19, 20],
    [20, 40],
    [99, 100],
    [5_000, 100],
  ])('for %d expected rows is %d', (expected, rows) => {
    expect(pageRows(expected, 20, 100)).toBe(rows);
  });

  test('starts with one block, and tries two once before it grows', () => {
    const sizer = createPollSizer({ step: 20, max: 100 });
    expect(sizer.first()).toBe(20);
    expect(sizer.next(500)).toBe(40);
    sizer.learn(40, 40, true);
    expect(sizer.next(500)).toBe(100);
  });

  test('stays at one block if the service returns no more rows for a larger limit', () => {
    const sizer = createPollSizer({ step: 20, max: 100 });
    sizer.learn(40, 20, true);
    expect(sizer.next(500)).toBe(20);
  });

  test('does not change after pages of one block', () => {
    const sizer = createPollSizer({ step: 20, max: 100 });
    sizer.learn(20, 20, true);
    expect(sizer.next(500)).toBe(40);
    expect(createPollSizer({ step: 25, max: 25 }).next(500)).toBe(25);
  });

  test('does not change after the last page of a feed', () => {
    const sizer = createPollSizer({ step: 20, max: 100 });
    sizer.learn(40, 3, false);
    expect(sizer.next(500)).toBe(40);
  });
});

describe('the rate', () => {
  test('starts with the rate of the first rows', () => {
    const rate = createRate();
    expect(rate.perSecond).toBe(0);
    rate.add(10, 0);
    rate.add(10, -5);
    expect(rate.perSecond).toBe(0);
    rate.add(10, 5_000);
    expect(rate.perSecond).toBe(2);
  });

  test('follows the feed by two thirds within two minutes, for any update interval', () => {
    const once = createRate();
    once.add(0, 1);
    once.add(120, 120_000);
    expect(once.perSecond).toBeCloseTo(1 - 1 / Math.E);
    const often = createRate();
    often.add(0, 1);
    for (let i = 0; i < 12; i++) often.add(10, 10_000);
    expect(often.perSecond).toBeCloseTo(1 - 1 / Math.E);
    for (let i = 0; i < 100; i++) often.add(0, 10_000);
    expect(often.perSecond).toBeLessThan(0.001);
  });
});

describe('the margin', () => {
  test('keeps its full size if walks are affordable', () => {
    const margin = createMargin(120_000, 15_000, 60_000);
    for (let i = 0; i < 50; i++) margin.learn(0, 1_000);
    expect(margin.ms).toBe(120_000);
  });

  test('follows the observed lateness if a walk costs half a minute of the socket', () => {
    const margin = createMargin(120_000, 15_000, 60_000);
    for (let i = 0; i < 9; i++) margin.learn(8_000, 1_500);
    expect(margin.ms).toBe(120_000);
    margin.learn(8_000, 1_500);
    expect(margin.ms).toBeGreaterThan(20_000);
    expect(margin.ms).toBeLessThan(25_000);
  });

  test('returns to its full size after one short walk', () => {
    const margin = createMargin(120_000, 15_000, 60_000);
    for (let i = 0; i < 10; i++) margin.learn(0, 1_500);
    expect(margin.ms).toBe(15_000);
    margin.learn(0, 100);
    expect(margin.ms).toBe(120_000);
  });

  test('stays small while the full size would cost too much', () => {
    const margin = createMargin(120_000, 15_000, 60_000);
    for (let i = 0; i < 10; i++) margin.learn(0, 1_500);
    margin.learn(0, 420);
    expect(margin.ms).toBe(15_000);
    margin.learn(0, 410);
    expect(margin.ms).toBe(120_000);
  });

  test('forgets a late post slowly, and never exceeds its full size', () => {
    const margin = createMargin(120_000, 15_000, 60_000);
    margin.learn(30_000, 1_500);
    for (let i = 0; i < 9; i++) margin.learn(0, 1_500);
    expect(margin.ms).toBeCloseTo(90_000 * 0.99 ** 9);
    margin.learn(100_000, 1_500);
    expect(margin.ms).toBe(120_000);
  });
});
