import { group, unitsText } from '../../base/units.ts';
import { type BudgetState, budgetItem, budgetText, leftIn, renewalText } from '../../contract/budget.ts';
import { createBudget } from '../../state/ledger/budget.ts';
import type { Context } from '../context.ts';

const budgetOf = ({ io, settings }: Context) =>
  createBudget(settings.folders.state, settings.profile, io.clock);

/** Also budgets that are not set, because the records state what the profile has spent. */
export async function localBudgets(context: Context) {
  const { budgetDay, budgetMonth } = context.settings;
  const { day, month } = await budgetOf(context).spending();
  const now = context.io.clock.now();
  return [
    budgetItem('day', { ...day, limit: budgetDay ?? null }, now),
    budgetItem('month', { ...month, limit: budgetMonth ?? null }, now),
  ];
}

/** `458,000 of 500,000 CU left in the day budget of profile "desk" (renews at 2026-11-23 00:00 UTC)` */
export const leftText = (state: BudgetState, now: number): string =>
  `${group(leftIn(state))} of ${unitsText(state.limit)} left in ${budgetText(state)} (renews at ${renewalText(state.period, now)})`;

/** The ledger is read only if there is a budget. */
export async function localBudgetLines(context: Context): Promise<string[]> {
  const { budgetDay: day, budgetMonth: month } = context.settings;
  if (context.globals.sandbox || (day === undefined && month === undefined)) return [];
  const states = await budgetOf(context).states({ day, month });
  return states.map((state) => leftText(state, context.io.clock.now()));
}

/** Of the profile and of the shared store, which are read only if there can be budgets. */
export async function budgetStates(context: Context): Promise<readonly BudgetState[]> {
  const { budgetDay, budgetMonth, store } = context.settings;
  const shared = store !== undefined && store !== 'off';
  if (context.globals.sandbox || (!shared && budgetDay === undefined && budgetMonth === undefined)) return [];
  return (await (await context.ledger()).budgets?.()) ?? [];
}

export const budgetLines = async (context: Context): Promise<string[]> =>
  (await budgetStates(context)).map((state) => leftText(state, context.io.clock.now()));

/** `day budget: 120,000 CU left` */
export const shortBudgets = async (context: Context): Promise<string[]> =>
  (await budgetStates(context)).map((state) => `${state.period} budget: ${unitsText(leftIn(state))} left`);
