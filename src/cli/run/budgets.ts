import { group } from '../../base/units.ts';
import {
  amountText,
  type BudgetState,
  budgetItem,
  budgetSettingNames,
  budgetSettings,
  budgetText,
  leftIn,
  periodText,
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
  const spending = await budgetOf(context).spending();
  const now = context.terminal.io.clock.now();
  return budgetSettingNames.flatMap((setting) => {
    const { period, measure } = budgetSettings[setting];
    const limit = context.settings[setting] ?? null;
    if (measure === 'units') return [budgetItem(period, { ...spending[setting], limit }, now)];
    const item = budgetItem(`${period} reveals`, { ...spending[setting], limit }, now);
    return limit === null ? [] : [{ ...item, measure }];
  });
}

/**
 * `458,000 of 500,000 CU left in the day budget of profile "desk" (renews at 2026-11-23 00:00 UTC)`
 */
export const leftText = (state: BudgetState, now: number): string =>
  `${group(leftIn(state))} of ${amountText(state.measure, state.limit)} left in ${budgetText(state)} (renews at ${renewalText(state.period, now)})`;

/**
 * The budgets of the profile and, if `isShared`, of the shared store. They are read only if there
 * can be any.
 */
export async function budgetStates(
  context: BudgetNeeds,
  isShared = true,
): Promise<readonly BudgetState[]> {
  const { settings } = context;
  const { store } = settings;
  const hasStore = isShared && store !== undefined && store !== 'off';
  const isUnlimited = budgetSettingNames.every((name) => settings[name] === undefined);
  if (settings.flags.sandbox || (!hasStore && isUnlimited)) return [];
  if (!isShared) return await budgetOf(context).states(settings);
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
    (state) => `${periodText(state)}: ${amountText(state.measure, leftIn(state))} left`,
  );
