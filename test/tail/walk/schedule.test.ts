import { describe, expect, test } from 'vitest';
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
  test.each<[string, Partial<WalkState>, string, number]>([
    ['at the start', { isStarted: false, isEnding: true, isWanted: true }, 'start', NOW],
    ['at the end', { isEnding: true, isWanted: true, mode: 'poll' }, 'final', NOW],
    ['on request', { isWanted: true, isConnected: false, mode: 'poll' }, 'gap', NOW],
    ['while polling', { mode: 'poll', isConnected: false, confirmed: 0 }, 'poll', 507_000],
    ['without a socket', { isConnected: false, confirmed: 0 }, 'outage', 510_000],
    ['after the socket broke', { isConnected: false, downSince: 600_000 }, 'outage', 609_000],
    ['after a connection', { confirmed: 0 }, 'confirm', 483_000],
    ['after the first confirmation', { confirmed: 1 }, 'confirm', 500_000],
    ['while the socket is up', {}, 'audit', 560_000],
  ])('%s', (_, given, why, due) => {
    expect(planWalk({ ...state, ...given }, timing)).toEqual({ why, due });
  });
});
