import { usageError } from '../../base/failure.ts';
import { plainName } from '../../base/values.ts';
import { value } from '../args/option.ts';
import { command } from '../command.ts';
import { configOf, profileName } from '../settings/settings.ts';
import { budgetSettings, checkLocal } from './budget-set.ts';

export const budgetUnset = command({
  path: 'budget unset',
  summary: 'Remove a budget',
  about: [
    'Removes the budget of the profile and, with a shared store, also the budget that all machines share. With --machine, removes only the budget of that machine in the store.',
  ],
  args: [{ name: 'period', help: 'month or day', choices: ['month', 'day'] }],
  options: {
    machine: value('--machine', 'with a store: only the budget of the machine with this name', plainName),
  },
  common: [],
  examples: [{ run: 'trdr budget unset day', does: 'remove the limit per day' }],
  savesSettings: true,
  calls: [],
  exits: [0, 2, 4, 9],
  parse([period], { machine }) {
    if (period !== 'month' && period !== 'day')
      throw usageError(`invalid period "${period}"`, 'choose from month, day');
    return { period, machine } as const;
  },
  async run(context, { period, machine }) {
    const removed: string[] = [];
    const store = await context.store();
    if (store === undefined) checkLocal(machine);
    else {
      const { storeBudgets } = await import('../../store/budgets.ts');
      const owner = machine === undefined ? 'all machines' : machine;
      if (await storeBudgets(store).unset({ period, machine })) removed.push(owner);
    }
    if (machine === undefined) {
      const profile = profileName(context.io, context.globals);
      const was = await configOf(context.io).unset(profile, budgetSettings[period]);
      if (was) removed.push(`profile "${profile}"`);
    }
    context.notice(
      removed.length > 0
        ? `Removed the ${period} budget of ${removed.join(' and ')}`
        : machine === undefined
          ? `no ${period} budget was set`
          : `no ${period} budget was set for machine "${machine}"`,
    );
    return 0;
  },
});
