import { usageError } from '../../base/failure.ts';
import { plainName } from '../../base/values.ts';
import { value } from '../args/option.ts';
import { command } from '../command.ts';

export const budgetUnset = command({
  path: 'budget unset',
  summary: 'Remove a budget',
  about: ['Removes the budget of all machines, or that of one machine with --machine.'],
  args: [{ name: 'period', help: 'month or day', choices: ['month', 'day'] }],
  options: { machine: value('--machine', 'the budget of this machine', plainName) },
  common: [],
  examples: [{ run: 'trdr budget unset day', does: 'no limit per day' }],
  calls: [],
  exits: [0, 2, 4, 9],
  parse([period], { machine }) {
    if (period !== 'month' && period !== 'day') throw usageError('invalid period', 'choose from month, day');
    return { period, machine } as const;
  },
  async run(context, budget) {
    const { needStore } = await import('../store/need-store.ts');
    const { storeBudgets } = await import('../../store/budgets.ts');
    const removed = await storeBudgets(await needStore(context)).unset(budget);
    const whose = budget.machine === undefined ? 'all machines' : budget.machine;
    context.notice(removed ? `Removed the ${budget.period} budget of ${whose}` : 'there was no such budget');
    return 0;
  },
});
