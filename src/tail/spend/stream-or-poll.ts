import { cu, LEAST_RATE_PER_MINUTE } from '../../contract/limits.ts';
import type { BudgetLeft } from '../../contract/ports/client.ts';
import { PROOF } from '../../core/pages/proof.ts';

export type Mode = 'ws' | 'poll';
export type Via = 'auto' | Mode;

/** Why a tail polls. After the first two, what a person can change. */
export type PollReason =
  | 'asked' // --via poll is set, or the feed has no WebSocket
  | 'cheaper' // polling keeps the lag and costs less
  | 'plan' // the plan of the key does not include the live feed
  | 'ceiling' // the spending limit does not cover another minute
  | 'budget' // a budget does not cover streaming
  | 'units' // the units of the key, or the share of them for streaming, do not cover a minute
  | 'socket'; // the WebSocket is refused, delivers nothing, or does not last

/** The CU of a run: those that were certainly charged, and all that may have been charged. */
export interface TailCost {
  readonly cu: number;
  readonly atMost: number;
  /** What of `atMost` are minutes of the WebSocket that the service has not confirmed. */
  readonly minutes?: number;
  /** What of `minutes` is reserved for an open WebSocket, and may be released. */
  readonly openMinutes?: number;
}

export interface SpendView {
  readonly via: Via;
  /** Whether `auto` polls if this keeps the lag and costs less. */
  readonly cheapest: boolean;
  readonly hasSocket: boolean;
  readonly live: boolean | null;
  readonly lagMs: number;
  readonly rate: number;
  /** The key's rate limit, of which polls leave half to other processes. */
  readonly ratePerMinute: number | null;
  readonly step: number;
  readonly stepCu: number;
  /** How often a deep walk verifies the feed, and how far back it reads each time. */
  readonly auditMs: number;
  readonly latenessMs: number;
  /**
   * What the spending limit of the run, and the units of the key, have left; null if unlimited or
   * not known.
   */
  readonly limitLeft: number | null;
  readonly allowanceLeft: number | null;
  readonly budgets: readonly BudgetLeft[];
  /** The CU that an open WebSocket has reserved; they are not part of what is left. */
  readonly reserved: number;
  /** The CU that the WebSocket may still use of its share; null if unlimited or not known. */
  readonly shareLeft: number | null;
  readonly shortSessions: number;
  readonly now: number;
  readonly runLeftMs: number;
  /** The time since the last poll, from which the interval counts. */
  readonly sincePollMs: number;
}

export interface SpendPlan {
  readonly why: PollReason | undefined;
  readonly pollMs: number;
  /** When the budget renews that makes the interval longer than the requested lag. */
  readonly until: number | undefined;
  /** The whole price of a mode, including the walks that verify the feed. */
  readonly perMinute: Readonly<Record<Mode, number>>;
}

const MINUTE = 60_000;
/**
 * A connection is opened only if a second minute is covered too: a killed process is charged until
 * this is noticed.
 */
const OPENING = 2 * cu.socketMinute;
export const LONGEST_POLL_MS = 3_600_000;
/**
 * After this many connections that were of no use, the network counts as too unstable for
 * streaming.
 */
const SHORT_SESSIONS = 3;

export function planSpend(view: SpendView): SpendPlan {
  const { pollMs, until } = pollInterval(view);
  const perMinute = { ws: streamPerMinute(view), poll: pollPerMinute(view, pollMs) };
  return { why: reasonToPoll(view, perMinute.ws), pollMs, until, perMinute };
}

/** The shortest interval of polls: they use half of the rate limit. */
const leastPollMs = ({ ratePerMinute }: Pick<SpendView, 'ratePerMinute'>): number =>
  ratePerMinute === null ? 1_000 : (2 * MINUTE) / ratePerMinute;

/**
 * Whether polls of any feed keep this lag and cost less than its WebSocket, whatever its rate and
 * the plan of the key.
 */
export const arePollsCheaper = (lagMs: number, stepCu: number): boolean =>
  lagMs >= leastPollMs({ ratePerMinute: LEAST_RATE_PER_MINUTE }) && doPollsCostLess(lagMs, stepCu);

/**
 * The walks that verify a feed pay for its posts in both modes, and polls pay for them once more:
 * as much as for the WebSocket if there are 30 a second. The rate of the feed is left out of the
 * decision because it is only estimated: a burst would make the run leave the way whose price was
 * approved.
 */
const doPollsCostLess = (lagMs: number, stepCu: number): boolean =>
  (stepCu * MINUTE) / lagMs <= cu.socketMinute;

function isPollCheaper(view: SpendView): boolean {
  const { cheapest, lagMs, stepCu } = view;
  return cheapest && lagMs >= leastPollMs(view) && doPollsCostLess(lagMs, stepCu);
}

function reasonToPoll(view: SpendView, perMinute: number): PollReason | undefined {
  const { via, allowanceLeft, shareLeft, reserved } = view;
  const covers = (left: number | null, units: number) => left === null || left + reserved >= units;
  const opening = Math.max(OPENING, perMinute);
  if (!view.hasSocket || via === 'poll') return 'asked';
  if (!covers(view.limitLeft, opening)) return 'ceiling';
  // With --via ws, a budget is used until it is exhausted; otherwise, it has to last until it
  // renews.
  const need = (budget: BudgetLeft) =>
    via === 'ws' ? opening : Math.max(opening, Math.ceil(lasts(view, budget) / MINUTE) * perMinute);
  if (!view.budgets.every((budget) => covers(budget.left, need(budget)))) return 'budget';
  if (via === 'ws') return undefined;
  if (isPollCheaper(view)) return 'cheaper';
  if (view.live === false) return 'plan';
  if (!covers(allowanceLeft, opening)) return 'units';
  if (shareLeft !== null && shareLeft < cu.socketMinute) return 'units';
  return view.shortSessions >= SHORT_SESSIONS ? 'socket' : undefined;
}

const lasts = ({ now, runLeftMs }: SpendView, { renewsAt }: BudgetLeft): number =>
  Math.max(0, Math.min(renewsAt - now, runLeftMs));

/** The requested lag, or with `auto` the interval with which each budget lasts until it renews. */
function pollInterval(view: SpendView): {
  readonly pollMs: number;
  readonly until: number | undefined;
} {
  let pollMs = Math.max(view.lagMs, leastPollMs(view));
  let until: number | undefined;
  if (view.via === 'poll') return { pollMs, until };
  for (const budget of view.budgets) {
    const ms = lasts(view, budget) + view.sincePollMs;
    const most = Math.min(LONGEST_POLL_MS, ms + 1_000);
    const isCovered = (interval: number) =>
      pollPerMinute(view, interval) * ms <= budget.left * MINUTE;
    if (most <= pollMs || isCovered(pollMs)) continue;
    pollMs = leastWhere(isCovered, pollMs, most);
    until = budget.renewsAt;
  }
  return { pollMs, until };
}

/** The least whole number above `least` for which this holds; `most` if it never does. */
function leastWhere(holds: (at: number) => boolean, least: number, most: number): number {
  let below = least;
  let above = most;
  while (above - below > 1) {
    const middle = Math.floor((below + above) / 2);
    if (holds(middle)) above = middle;
    else below = middle;
  }
  return above;
}

const cost = ({ step, stepCu }: SpendView, rows: number): number => stepCu * Math.ceil(rows / step);

/** A deep walk reads on to what the one before it has verified. */
const deepCost = (view: SpendView, everyMs: number): number =>
  cost(view, (view.rate * (everyMs + view.latenessMs)) / 1_000 + PROOF);

const streamPerMinute = (view: SpendView): number =>
  cu.socketMinute + (deepCost(view, view.auditMs) * MINUTE) / view.auditMs;

function pollPerMinute(view: SpendView, pollMs: number): number {
  const { rate, auditMs } = view;
  const shallow = cost(view, (rate * pollMs) / 1_000 + 1);
  // The share of the polls that are deep.
  const share = Math.min(1, pollMs / auditMs);
  const price = shallow * (1 - share) + deepCost(view, Math.max(pollMs, auditMs)) * share;
  return (price * MINUTE) / pollMs;
}
