import { Failure } from '../base/failure.ts';
import { type Period, renewalOf } from '../base/periods.ts';
import { unitsText } from '../base/units.ts';

interface Named {
  readonly period: Period;
  /** Whose spending is limited: a profile's on this machine, all machines' of a key, or one machine's. */
  readonly scope: 'profile' | 'key' | 'machine';
  readonly name: string;
}

type Used = Readonly<Record<'spent' | 'lost' | 'reserved', number>>;

export type BudgetState = Named & Used & { readonly limit: number };

export const leftIn = ({ limit, spent, lost, reserved }: Used & { readonly limit: number }) =>
  Math.max(0, limit - spent - lost - reserved);

/** `the day budget of profile "desk"`. */
export function budgetText({ period, scope, name }: Named): string {
  const owner = scope === 'key' ? 'all machines' : scope === 'machine' ? name : `profile "${name}"`;
  return `the ${period} budget of ${owner}`;
}

/** `2026-11-23 00:00 UTC`. */
export const renewalText = (period: Period, now: number): string =>
  `${new Date(renewalOf(period, now)).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

export const BUDGET = 'BUDGET';

const machineFlag = ({ scope, name }: Named) => (scope === 'machine' ? ` --machine ${name}` : '');

export const raiseText = (budget: Named): string =>
  `raise it: trdr budget set ${budget.period} N${machineFlag(budget)}`;

export function budgetRefusal(
  budget: Named & { readonly limit: number; readonly left: number; readonly reserved: number },
  most: number | undefined,
  now: number,
): Failure {
  const { period, limit, left, reserved } = budget;
  const held = reserved > 0 ? `; ${unitsText(reserved)} are reserved for calls in flight` : '';
  const what =
    most === undefined
      ? `the cost of the next call is unknown, so trdr cannot keep it within ${budgetText(budget)}`
      : `the next call may cost ${unitsText(most)} but only ${unitsText(left)} of ${budgetText(budget)} (${unitsText(limit)}) remain${held}; it renews at ${renewalText(period, now)}`;
  return new Failure('limit', what, {
    code: BUDGET,
    retryAfter: Math.ceil((renewalOf(period, now) - now) / 1000),
    hint:
      most === undefined
        ? `remove the budget to send the call: trdr budget unset ${period}${machineFlag(budget)}`
        : `wait until the budget renews, or ${raiseText(budget)}`,
  });
}

/** A row of `budget show` and `store status`. A null limit means that there is none. */
export function budgetItem(
  name: string,
  { limit, ...used }: Used & { readonly limit: number | null },
  now: number,
) {
  const period: Period = name.startsWith('day') ? 'day' : 'month';
  const left = limit === null ? null : leftIn({ limit, ...used });
  const state = left === null ? 'no limit' : left === 0 ? 'exhausted' : 'within';
  const { spent, lost, reserved } = used;
  const item = 'budget' as const;
  return {
    item,
    name,
    state,
    limit,
    left,
    renewsAt: renewalOf(period, now),
    spent,
    lost,
    reserved,
  };
}
