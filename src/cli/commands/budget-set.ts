import { usageError } from '../../base/failure.ts';
import { unitsText } from '../../base/units.ts';
import { plainName, units } from '../../base/values.ts';
import { value } from '../args/option.ts';
import { command } from '../command.ts';
import { configOf, profileName } from '../settings/settings.ts';

/** The settings in which the budgets of a profile are saved. */
export const budgetSettings = { day: 'budgetDay', month: 'budgetMonth' } as const;

export const budgetSet = command({
  path: 'budget set',
  summary: 'Limit what a profile may spend per day or month',
  about: [
    'The budget applies to all runs of the profile on this machine together, including those that are running: each paid call is checked before it is sent. With a shared store, it applies to all machines of the key. Days and months are UTC. When a budget is used up, a run ends with exit code 6; a tail with --wait-for-budget sleeps until the budget renews.',
    'Without a store, the budget counts what the ledger of this machine recorded; calls whose answers were lost count with their maximum cost. In a store, the budget also counts what other programs spent with the key. That spending is known with a delay of up to ten minutes, and a day budget counts only the part after the first call that was sent through the store that day. --machine limits one machine that uses the store.',
  ],
  args: [
    { name: 'period', help: 'month or day', choices: ['month', 'day'] },
    { name: 'amount', help: 'CU, such as 500k or 15M' },
  ],
  options: { machine: value('--machine', 'with a store: limit only the machine with this name', plainName) },
  common: [],
  examples: [
    { run: 'trdr budget set day 500k', does: 'limit all runs of this profile together, per day (UTC)' },
    { run: 'trdr budget set month 15M', does: 'limit all runs of this profile together, per month (UTC)' },
    { run: 'trdr budget set day 500k --machine nightly', does: 'limit one machine that uses the store' },
  ],
  savesSettings: true,
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
      const profile = profileName(context.io, context.globals, { newProfile: true });
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

/** Rejects --machine for a budget that is not in a store. */
export function checkLocal(machine: string | undefined): void {
  if (machine === undefined) return;
  throw usageError('--machine requires a store', 'run "trdr store login URL", or set TRDR_STORE');
}
