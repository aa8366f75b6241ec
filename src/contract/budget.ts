import { Failure } from '../base/failure.ts';
import { type Period, renewalOf } from '../base/periods.ts';
import { unitsText } from '../base/units.ts';

/** A budget, and how much of it is used. All amounts are in CU. */
export interface BudgetState {
  readonly period: Period;
  /**
   * What the budget limits: the spending of a profile on this machine (`profile`), of all machines that share
   * a key (`key`), or of one of these machines (`machine`).
   */
  readonly scope: 'profile' | 'key' | 'machine';
  readonly name: string;
  readonly limit: number;
  readonly spent: number;
  /** The possible cost of calls whose answers were lost. */
  readonly lost: number;
  readonly reserved: number;
}

/** How much of a budget is left; never negative. */
export const leftIn = ({ limit, spent, lost, reserved }: Omit<BudgetState, 'period' | 'scope' | 'name'>) =>
  Math.max(0, limit - spent - lost - reserved);

type Named = Pick<BudgetState, 'period' | 'scope' | 'name'>;

/** The name of a budget in messages: `the day budget of profile "desk"`. */
export function budgetText({ period, scope, name }: Named): string {
  const owner = scope === 'key' ? 'all machines' : scope === 'machine' ? name : `profile "${name}"`;
  return `the ${period} budget of ${owner}`;
}

/** The time at which a budget renews: `2026-11-23 00:00 UTC`. */
export const renewalText = (period: Period, now: number): string =>
  `${new Date(renewalOf(period, now)).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** The error code of calls that a budget does not allow. */
export const BUDGET = 'BUDGET';

const machineFlag = ({ scope, name }: Named) => (scope === 'machine' ? ` --machine ${name}` : '');

/** How to raise a budget: `raise it: trdr budget set day N`. */
export const raiseText = (budget: Named): string =>
  `raise it: trdr budget set ${budget.period} N${machineFlag(budget)}`;

/**
 * The error for a call that may cost more than a budget has left, or whose cost is unknown (`most` is
 * undefined).
 */
export function budgetRefusal(
  budget: Named & { readonly limit: number; readonly left: number },
  most: number | undefined,
  now: number,
): Failure {
  const { period, limit, left } = budget;
  const what =
    most === undefined
      ? `the cost of the next call is unknown, so trdr cannot keep it within ${budgetText(budget)}`
      : `the next call may cost ${unitsText(most)} but only ${unitsText(left)} of ${budgetText(budget)} (${unitsText(limit)}) remain; it renews at ${renewalText(period, now)}`;
  return new Failure('limit', what, {
    code: BUDGET,
    retryAfter: Math.ceil((renewalOf(period, now) - now) / 1000),
    hint:
      most === undefined
        ? `remove the budget to send the call: trdr budget unset ${period}${machineFlag(budget)}`
        : `wait until the budget renews, or ${raiseText(budget)}`,
  });
}

/**
 * A budget as a record of `budget show` and `store status`. If the budget has no limit, the record has null
 * for the limit and for what is left.
 */
export function budgetItem(
  name: string,
  {
    limit,
    ...used
  }: Omit<BudgetState, 'period' | 'scope' | 'name' | 'limit'> & { readonly limit: number | null },
  now: number,
) {
  const period: Period = name.startsWith('day') ? 'day' : 'month';
  const left = limit === null ? null : leftIn({ limit, ...used });
  const state = left === null ? 'no limit' : left === 0 ? 'exhausted' : 'within';
  const { spent, lost, reserved } = used;
  const item = 'budget' as const;
  return { item, name, state, limit, left, renewsAt: renewalOf(period, now), spent, lost, reserved };
}
