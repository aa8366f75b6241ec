import { usageError } from '../../base/failure.ts';
import { plainName, units } from '../../base/values.ts';
import { value } from '../args/option.ts';
import { command } from '../command.ts';
import { unitsText } from '../spend/estimate.ts';

export const budgetSet = command({
  path: 'budget set',
  summary: 'Limit what all machines of a key may spend per month or day',
  about: [
    'The budget is kept in the shared store and checked before each paid call, on every machine. Periods are UTC. At the limit a call ends with exit code 6.',
    'The month counts everything that the service counted for the key; the day counts from its first call. --machine limits one machine only.',
  ],
  args: [
    { name: 'period', help: 'month or day', choices: ['month', 'day'] },
    { name: 'amount', help: 'CU, such as 500k or 15M' },
  ],
  options: { machine: value('--machine', 'limit this machine only', plainName) },
  common: [],
  examples: [
    { run: 'trdr budget set month 15M', does: 'for all machines together' },
    { run: 'trdr budget set day 500k --machine nightly', does: 'for one machine' },
  ],
  calls: [],
  exits: [0, 2, 4, 9],
  parse([period, amount = ''], { machine }) {
    if (period !== 'month' && period !== 'day') throw usageError('invalid period', 'choose from month, day');
    const cu = units.read(amount);
    if (cu === undefined) throw usageError(`invalid amount "${amount}"`, units.hint);
    return { period, cu, machine } as const;
  },
  async run(context, budget) {
    const { needStore } = await import('../store/need-store.ts');
    const { storeBudgets } = await import('../../store/budgets.ts');
    await storeBudgets(await needStore(context)).set(budget);
    const whose = budget.machine === undefined ? 'all machines' : budget.machine;
    context.notice(`Set the ${budget.period} budget of ${whose} to ${unitsText(budget.cu)}`);
    return 0;
  },
});
