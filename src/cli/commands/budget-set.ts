import { usageError } from '../../base/failure.ts';
import { plainName, units } from '../../base/values.ts';
import { value } from '../args/option.ts';
import { command } from '../command.ts';
import { configOf, sourcedSettings } from '../settings/settings.ts';
import { unitsText } from '../spend/estimate.ts';

/** The setting that holds a budget of the profile. */
export const budgetSettings = { day: 'budgetDay', month: 'budgetMonth' } as const;

export const budgetSet = command({
  path: 'budget set',
  summary: 'Limit what a profile may spend per day or month',
  about: [
    'The budget applies to all runs of the profile on this machine together, also to those that are running: each paid call is checked against it before it is sent. With a shared store it applies to all machines of the key. Periods are UTC. At the limit a run ends with exit code 6; a tail with --wait-for-budget sleeps until the budget renews.',
    'A budget of this machine counts what its ledger recorded, with lost answers at their maximum. In a store, the month counts everything that the service counted for the key; the day counts from its first call. --machine limits one machine of the store only.',
  ],
  args: [
    { name: 'period', help: 'month or day', choices: ['month', 'day'] },
    { name: 'amount', help: 'CU, such as 500k or 15M' },
  ],
  options: { machine: value('--machine', 'with a store: limit this machine only', plainName) },
  common: [],
  examples: [
    { run: 'trdr budget set day 500k', does: 'for all runs of this profile together' },
    { run: 'trdr budget set month 15M', does: 'per calendar month (UTC)' },
    { run: 'trdr budget set day 500k --machine nightly', does: 'for one machine of a store' },
  ],
  calls: [],
  exits: [0, 2, 4, 9],
  parse([period, amount = ''], { machine }) {
    if (period !== 'month' && period !== 'day')
      throw usageError(`invalid period "${period}"`, 'choose from month, day');
    const cu = units.read(amount);
    if (cu === undefined) throw usageError(`invalid amount "${amount}"`, units.hint);
    return { period, cu, machine } as const;
  },
  async run(context, { period, cu, machine }) {
    const store = await context.store();
    if (store === undefined) {
      checkLocal(machine);
      const how = { tolerant: true, newProfile: true };
      const profile = sourcedSettings(context.io, context.globals, how).profile.value;
      await configOf(context.io).set(profile, budgetSettings[period], String(cu));
      context.notice(`Set the ${period} budget of profile "${profile}" to ${unitsText(cu)}`);
      return 0;
    }
    const { storeBudgets } = await import('../../store/budgets.ts');
    await storeBudgets(store).set({ period, cu, machine });
    const owner = machine === undefined ? 'all machines' : machine;
    context.notice(`Set the ${period} budget of ${owner} to ${unitsText(cu)}`);
    return 0;
  },
});

/** Rejects what only a store can do. */
export function checkLocal(machine: string | undefined): void {
  if (machine === undefined) return;
  throw usageError('--machine requires a store', 'run "trdr store login URL", or set TRDR_STORE');
}
