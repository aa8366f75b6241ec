import { Failure } from '../base/failure.ts';
import { type Period, renewalOf } from '../base/periods.ts';
import { countText, unitsText } from '../base/units.ts';

/** What a budget limits: CU, or wallet reveals, which no top-up adds. */
export type Measure = 'units' | 'reveals';

/** The budgets that a profile can have, by the settings in which they are saved. */
export const budgetSettings = {
  budgetDay: { period: 'day', measure: 'units' },
  budgetMonth: { period: 'month', measure: 'units' },
  budgetDayReveals: { period: 'day', measure: 'reveals' },
  budgetMonthReveals: { period: 'month', measure: 'reveals' },
} as const satisfies Record<string, Pick<BudgetName, 'period' | 'measure'>>;

export type BudgetSetting = keyof typeof budgetSettings;
const isBudgetSetting = (name: string): name is BudgetSetting => name in budgetSettings;
export const budgetSettingNames = Object.keys(budgetSettings).filter(isBudgetSetting);

/** An amount in the words of its measure. */
export const amountText = (measure: Measure | undefined, amount: number): string =>
  measure === 'reveals' ? countText(amount, 'wallet reveal') : unitsText(amount);

/** Which budget it is. */
export interface BudgetName {
  readonly period: Period;
  /** CU if absent. */
  readonly measure?: Measure | undefined;
  /**
   * Whose spending is limited: a profile's on this machine, all machines' of a key, or one
   * machine's.
   */
  readonly scope: 'profile' | 'key' | 'machine';
  /** The name of the profile or machine; empty for a key. */
  readonly name: string;
}

/** How much of a budget is used, in CU. */
interface BudgetUse {
  readonly spent: number;
  /** The possible cost of calls whose answers were lost. */
  readonly lost: number;
  /** The maximum cost of the calls in flight. */
  readonly reserved: number;
}

export interface BudgetState extends BudgetName, BudgetUse {
  readonly limit: number;
}

/** What is left of a budget; never negative. */
export const leftIn = ({
  limit,
  spent,
  lost,
  reserved,
}: BudgetUse & { readonly limit: number }): number => Math.max(0, limit - spent - lost - reserved);

/** The name of a budget in messages: `the day budget of profile "desk"`. */
export const budgetText = (budget: BudgetName): string =>
  `the ${periodText(budget)} of ${ownerText(budget)}`;

/** `day budget`, or `day budget of wallet reveals`. */
export const periodText = ({ period, measure }: Pick<BudgetName, 'period' | 'measure'>): string =>
  `${period} budget${measure === 'reveals' ? ' of wallet reveals' : ''}`;

function ownerText({ scope, name }: BudgetName): string {
  switch (scope) {
    case 'key':
      return 'all machines';
    case 'machine':
      return name;
    case 'profile':
      return `profile "${name}"`;
  }
}

/** When a budget renews: `2026-11-23 00:00 UTC`. */
export const renewalText = (period: Period, now: number): string =>
  `${new Date(renewalOf(period, now)).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** The error code of calls that a budget does not allow. */
export const BUDGET = 'BUDGET';

/** A budget that does not cover a call. `left` is passed, because the store computes it. */
interface RefusingBudget extends BudgetName {
  readonly limit: number;
  readonly left: number;
  readonly reserved: number;
}

/** The failure of a call that may cost more than a budget has left, or whose cost is unknown. */
export function budgetRefusal(
  budget: RefusingBudget,
  most: number | undefined,
  now: number,
): Failure {
  const { period, left, measure } = budget;
  const isPriceKnown = most !== undefined;
  return new Failure('limit', refusalText(budget, most, now), {
    code: BUDGET,
    retryAfter: Math.ceil((renewalOf(period, now) - now) / 1000),
    hint: isPriceKnown
      ? `wait until the budget renews, or ${raiseBudgetText(budget)}`
      : `remove the budget to send the call: trdr budget unset ${period}${machineFlag(budget)}`,
    left: isPriceKnown && measure !== 'reveals' ? left : undefined,
  });
}

/** How to raise a budget: `raise it: trdr budget set day N`. */
export const raiseBudgetText = (budget: BudgetName): string =>
  `raise it: trdr budget set ${budget.period} N${machineFlag(budget)}`;

/** The flag that names which budget of the period is meant. */
export const machineFlag = ({
  scope,
  name,
  measure,
}: Pick<BudgetName, 'scope' | 'name' | 'measure'>): string => {
  if (measure === 'reveals') return ' --reveals';
  return scope === 'machine' ? ` --machine ${name}` : '';
};

function refusalText(budget: RefusingBudget, most: number | undefined, now: number): string {
  const { period, limit, left, reserved, measure } = budget;
  const text = (amount: number) => amountText(measure, amount);
  const owner = budgetText(budget);
  if (most === undefined)
    return `the cost of the next call is unknown, so trdr cannot keep it within ${owner}`;
  const held = reserved > 0 ? `; ${text(reserved)} are reserved for calls in flight` : '';
  const rest = `only ${text(left)} of ${owner} (${text(limit)}) remain${held}`;
  const renewal = `it renews at ${renewalText(period, now)}`;
  const need = measure === 'reveals' ? 'may reveal a wallet' : `may cost ${unitsText(most)}`;
  return `the next call ${need} but ${rest}; ${renewal}`;
}

/** A row of `budget show` and `store status`. A null limit means that there is none. */
export function budgetItem(
  name: string,
  use: BudgetUse & { readonly limit: number | null },
  now: number,
) {
  const { limit, spent, lost, reserved } = use;
  const period: Period = name.startsWith('day') ? 'day' : 'month';
  const left = limit === null ? null : leftIn({ limit, spent, lost, reserved });
  return {
    item: 'budget' as const,
    name,
    state: stateText(left),
    limit,
    left,
    renewsAt: renewalOf(period, now),
    spent,
    lost,
    reserved,
  };
}

function stateText(left: number | null): string {
  if (left === null) return 'no limit';
  return left === 0 ? 'exhausted' : 'within';
}
