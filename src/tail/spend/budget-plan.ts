import type { Clock } from '../../base/clock.ts';
import { cu } from '../../contract/prices.ts';
import type { BudgetLeft } from '../ports.ts';
import { type PagePrice, pollCost } from './pace.ts';
import { WALK_RESERVE } from './socket-share.ts';

/** Plans the spending so that the rest of each budget lasts until the budget renews. */
export interface BudgetPlan {
  /** Updates what the budgets have left; `spent` is the cost of the run so far. */
  learn(budgets: readonly BudgetLeft[], spent: number): void;
  /**
   * Called when a budget or the allowance did not cover a minute of the WebSocket. Until the given time, `covers`
   * returns false.
   */
  refuse(untilMs: number): void;
  /**
   * Whether the budgets cover another minute of the WebSocket; with `whole`, whether they cover all minutes
   * until they renew or the run ends.
   */
  covers(spent: number, whole: boolean): boolean;
  /**
   * The shortest polling interval in seconds with which every budget lasts until it renews or the run ends, but
   * at least `least`. `until` is the time at which the budget that determines the interval renews.
   */
  interval(least: number, rate: number, spent: number): { readonly seconds: number; readonly until?: number };
  /** When the next budget renews, in epoch milliseconds. */
  readonly renewsAt: number;
}

const MINUTE = 60_000;
/**
 * The longest polling interval. If the budgets require a longer interval, the tail polls at this one until a
 * budget is used up.
 */
export const LONGEST_POLL_MS = 3_600_000;
/** The number of iterations that compute the interval at which the cost equals the budget. */
const STEPS = 8;

interface PlanParts {
  readonly clock: Pick<Clock, 'now'>;
  readonly price: PagePrice;
  /** How far below the newest post a verifying walk reads, and how often such a walk is made. */
  readonly marginMs: number;
  readonly auditMs: number;
  /** Milliseconds until the run ends. */
  readonly runLeftMs: () => number;
}

export function createBudgetPlan({ clock, price, marginMs, auditMs, runLeftMs }: PlanParts): BudgetPlan {
  let budgets: readonly BudgetLeft[] = [];
  let spentThen = 0;
  let refusedUntil = Number.NEGATIVE_INFINITY;
  let decided: { readonly until: number; readonly socket: boolean } | undefined;

  const renewsAt = () => Math.min(Number.POSITIVE_INFINITY, ...budgets.map((budget) => budget.renewsAt));
  /**
   * What each budget has left and how long this amount must last. A budget that has renewed since the last
   * update is omitted, because its amount is not known.
   */
  const current = (spent: number) =>
    budgets
      .filter((budget) => budget.renewsAt > clock.now())
      .map((budget) => ({
        left: Math.max(0, budget.left - (spent - spentThen)),
        renewsAt: budget.renewsAt,
        lastsMs: Math.min(budget.renewsAt - clock.now(), runLeftMs()),
      }));

  /** The CU of a poll, including its share of the cost of verifying walks. */
  const costOf = (rate: number, seconds: number) => {
    const verifying = Math.min(1, (seconds * 1_000) / auditMs);
    return pollCost(rate, seconds, price) + (verifying * price.cu * rate * marginMs) / 1_000 / price.step;
  };

  return {
    learn(now, spent) {
      budgets = now;
      spentThen = spent;
    },
    refuse(untilMs) {
      refusedUntil = untilMs;
    },
    covers(spent, whole) {
      if (clock.now() < refusedUntil) return false;
      const known = current(spent);
      // If a budget has renewed and what it has left is not known yet, do not change the decision.
      if (known.length < budgets.length) return decided?.socket ?? true;
      const minute = cu.socketMinute + WALK_RESERVE;
      // Require a second minute: if trdr is killed, the service charges until it notices that.
      const short = known.filter(({ left }) => left < minute + cu.socketMinute);
      // Do not stream again before these budgets renew. The end of the connection releases the minutes that it
      // reserved, and these would be enough to open another connection for a short time.
      refusedUntil = Math.max(refusedUntil, ...short.map((budget) => budget.renewsAt));
      const next = short.length === 0;
      if (!whole || budgets.length === 0) return next;
      if (decided && clock.now() < decided.until) {
        decided = { ...decided, socket: decided.socket && next };
      } else {
        const all = known.every(({ left, lastsMs }) => left >= Math.ceil(lastsMs / MINUTE) * minute);
        decided = { until: renewsAt(), socket: next && all };
      }
      return decided.socket;
    },
    interval(least, rate, spent) {
      let longest: { readonly seconds: number; readonly until?: number } = { seconds: least };
      for (const { left, lastsMs, renewsAt: until } of current(spent)) {
        let seconds = longest.seconds;
        for (let step = 0; step < STEPS; step++) {
          const lasting = ((lastsMs / 1_000) * costOf(rate, seconds)) / Math.max(1, left);
          seconds = Math.max(seconds, Math.min(LONGEST_POLL_MS / 1_000, lastsMs / 1_000 + 1, lasting));
        }
        if (seconds > longest.seconds) longest = { seconds, until };
      }
      return longest;
    },
    get renewsAt() {
      return renewsAt();
    },
  };
}
