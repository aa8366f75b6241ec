import { describe, expect, test } from 'vitest';
import type { BudgetLeft } from '../../../src/contract/ports/client.ts';

import { Planner } from '../../../src/tail/spend/planner.ts';
import { virtualClock } from '../../core/virtual-clock.ts';
import { sourceOf, still } from '../fakes.ts';

const NOW = Date.UTC(2026, 0, 1, 12);
const HOUR = 3_600_000;
const budgetOf = (left: number, renewsAt: number) => ({ period: 'day', left, renewsAt }) as const;

interface Known {
  readonly budgets?: readonly BudgetLeft[];
  readonly refusedUntil?: number;
  readonly isConnected?: boolean;
  readonly shortSessions?: number;
  readonly limitLeft?: number;
}

function plannerOf({ budgets = [], limitLeft, ...known }: Known) {
  return new Planner({
    ports: {
      clock: virtualClock(NOW),
      spent: still.spent,
      source: sourceOf(() => Promise.reject(new Error('a plan sends nothing'))),
    },
    hasSocket: true,
    options: { via: 'auto', lagMs: 10_000, limitLeft: () => limitLeft ?? null },
    timing: { latenessMs: 120_000 },
    money: {
      facts: { live: true, ratePerMinute: null },
      allowanceLeft: null,
      budgets,
      refusedUntil: known.refusedUntil ?? Number.NEGATIVE_INFINITY,
      shareLeft: () => null,
    },
    session: {
      isConnected: known.isConnected ?? false,
      minutes: 0,
      shortSessions: known.shortSessions ?? 0,
    },
    walker: { auditMs: 60_000, isStarted: true, lastAt: 0 },
    rate: { perSecond: 0.1 },
    end: { leftMs: Number.POSITIVE_INFINITY },
  });
}

describe('a plan', () => {
  test('streams while nothing speaks against it', () => {
    expect(plannerOf({}).plan().why).toBeUndefined();
  });

  test.each<[string, Known, string]>([
    ['a minute was refused just now', { refusedUntil: NOW + 1 }, 'budget'],
    ['a budget has renewed unseen', { budgets: [budgetOf(1e9, NOW - 1)] }, 'budget'],
    ['the limit does not cover two minutes', { limitLeft: 39_999 }, 'ceiling'],
    ['three connections were of no use', { shortSessions: 3 }, 'socket'],
  ])('polls because %s', (_, known, why) => {
    expect(plannerOf(known).plan().why).toBe(why);
  });

  test('keeps a connection whose budget has just renewed', () => {
    const known = { isConnected: true, budgets: [budgetOf(1e9, NOW - 1)] };
    expect(plannerOf(known).plan().why).toBeUndefined();
  });

  test('stretches the polls so that a budget lasts until it renews', () => {
    const until = NOW + 12 * HOUR;
    const stretched = plannerOf({ budgets: [budgetOf(10_000, until)] }).stretched();
    expect(stretched?.until).toBe(until);
    expect(stretched?.everyMs).toBeGreaterThan(10_000);
    expect(plannerOf({}).stretched()).toBeUndefined();
  });
});
