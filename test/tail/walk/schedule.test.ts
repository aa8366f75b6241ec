import { describe, expect, test } from 'vitest';
import { createBackoff } from '../../../src/base/clock.ts';
import { timing } from '../../../src/tail/timing.ts';
import { planWalk, type WalkState } from '../../../src/tail/walk/schedule.ts';

const NOW = Number.NEGATIVE_INFINITY;
const state: WalkState = {
  isStarted: true,
  isEnding: false,
  isWanted: false,
  mode: 'ws',
  isConnected: true,
  lastAt: 500_000,
  printedAt: 501_000,
  gapAt: 480_000,
  confirmed: 2,
  downSince: 100_000,
  pollMs: 7_000,
  lagMs: 9_000,
  auditMs: 60_000,
};

describe('the next walk', () => {
  test.each<[string, Partial<WalkState>, { why: string; due: number }]>([
    [
      'at the start of a run',
      { isStarted: false, isEnding: true, isWanted: true },
      { why: 'start', due: NOW },
    ],
    ['at the end of a run', { isEnding: true, isWanted: true, mode: 'poll' }, { why: 'final', due: NOW }],
    ['on request', { isWanted: true, isConnected: false, mode: 'poll' }, { why: 'gap', due: NOW }],
    ['while polling', { mode: 'poll', isConnected: false, confirmed: 0 }, { why: 'poll', due: 507_000 }],
    ['without a socket', { isConnected: false, confirmed: 0 }, { why: 'outage', due: 510_000 }],
    ['after the socket broke', { isConnected: false, downSince: 600_000 }, { why: 'outage', due: 609_000 }],
    ['after a connection', { confirmed: 0 }, { why: 'confirm', due: 483_000 }],
    ['after the first confirmation', { confirmed: 1 }, { why: 'confirm', due: 500_000 }],
    ['while the socket is up', {}, { why: 'audit', due: 560_000 }],
  ])('%s', (_, given, plan) => {
    expect(planWalk({ ...state, ...given }, timing)).toEqual(plan);
  });
});

describe('a backoff', () => {
  test('doubles its maximum wait up to a limit, and starts again after a reset', () => {
    const backoff = createBackoff(500, 3_000, () => 0.5);
    expect(Array.from({ length: 5 }, backoff.next)).toEqual([250, 500, 1_000, 1_500, 1_500]);
    backoff.reset();
    expect(backoff.next()).toBe(250);
  });

  test('uses full jitter, so that clients do not retry at the same time', () => {
    const parts = [0, 0.25, 0.999];
    const backoff = createBackoff(1_000, 1_000, () => parts.shift() ?? 0);
    expect([backoff.next(), backoff.next(), backoff.next()]).toEqual([0, 250, 999]);
  });
});
