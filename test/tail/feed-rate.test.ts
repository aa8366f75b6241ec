import { expect, test } from 'vitest';
import { FeedRate } from '../../src/tail/feed-rate.ts';

const MINUTE = 60_000;
/** The newest page of a feed with a post every ten seconds. */
const page = Array.from({ length: 20 }, (_, i) => 1e12 - i * 10_000);
const walked = (startedAt: number, newer: number, coveredMs: number) => ({
  startedAt,
  times: page,
  newer,
  coveredMs,
});

test('begins with the distances of the posts of the first page', () => {
  const rate = new FeedRate(0);
  expect(rate.perSecond).toBe(0);
  rate.learn(walked(0, 0, 0));
  expect(rate.perSecond).toBe(0.1);
});

test('stays the same after a pause, whether this machine, its clock or the service stood still', () => {
  for (const [elapsedMs, coveredMs] of [
    [600 * MINUTE, 600 * MINUTE],
    [MINUTE, 600 * MINUTE],
    [601 * MINUTE, 0],
  ] as const) {
    const rate = new FeedRate(0);
    rate.learn(walked(0, 0, 0));
    rate.learn(walked(elapsedMs, coveredMs / 10_000, coveredMs));
    expect(rate.perSecond).toBeLessThanOrEqual(0.1001);
  }
});

test('follows a change within minutes', () => {
  const rate = new FeedRate(0);
  for (let minute = 0; minute <= 5; minute++) rate.learn(walked(minute * MINUTE, 60, MINUTE));
  expect(rate.perSecond).toBeGreaterThan(0.9);
  for (let minute = 6; minute <= 20; minute++) rate.learn(walked(minute * MINUTE, 0, 0));
  expect(rate.perSecond).toBeLessThan(0.01);
});
