import { group, unitsText } from '../../base/units.ts';
import {
  type BudgetState,
  budgetItem,
  budgetText,
  leftIn,
  renewalText,
} from '../../contract/budget.ts';
import { createBudget } from '../../state/ledger/budget.ts';
import type { Context } from './context.ts';

type BudgetNeeds = Pick<Context, 'terminal' | 'settings' | 'service'>;

const budgetOf = ({ terminal, settings }: BudgetNeeds) =>
  createBudget(settings.folders.state, settings.profile, terminal.io.clock);

/**
 * The budgets of the profile, also those that are not set, because the records state what it has
 * spent.
 */
export async function localBudgets(context: BudgetNeeds) {
  const { budgetDay, budgetMonth } = context.settings;
  const { day, month } = await budgetOf(context).spending();
  const now = context.terminal.io.clock.now();
  return [
    budgetItem('day', { ...day, limit: budgetDay ?? null }, now),
    budgetItem('month', { ...month, limit: budgetMonth ?? null }, now),
  ];
}

/**
 * `458,000 of 500,000 CU left in the day budget of profile "desk" (renews at 2026-11-23 00:00 UTC)`
 */
export const leftText = (state: BudgetState, now: number): string =>
  `${group(leftIn(state))} of ${unitsText(state.limit)} left in ${budgetText(state)} (renews at ${renewalText(state.period, now)})`;

/**
 * The budgets of the profile and, if `isShared`, of the shared store. They are read only if there
 * can be any.
 */
export async function budgetStates(
  context: BudgetNeeds,
  isShared = true,
): Promise<readonly BudgetState[]> {
  const { budgetDay: day, budgetMonth: month, store } = context.settings;
  const hasStore = isShared && store !== undefined && store !== 'off';
  if (context.settings.flags.sandbox || (!hasStore && day === undefined && month === undefined))
    return [];
  if (!isShared) return await budgetOf(context).states({ day, month });
  return (await (await context.service.ledger()).budgets?.()) ?? [];
}

export async function noticeBudgets(context: BudgetNeeds, isShared = true): Promise<void> {
  const now = context.terminal.io.clock.now();
  for (const state of await budgetStates(context, isShared))
    context.terminal.notice(leftText(state, now));
}

/** `day budget: 120,000 CU left` */
export const shortBudgets = async (context: BudgetNeeds): Promise<string[]> =>
  (await budgetStates(context)).map(
    (state) => `${state.period} budget: ${unitsText(leftIn(state))} left`,
  );
