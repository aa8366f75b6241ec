import { units } from '../../base/amounts.ts';
import { usageError } from '../../base/failure.ts';
import { unitsText } from '../../base/units.ts';
import { plainName } from '../../base/values.ts';
import { StoreItem } from '../../contract/records/store.ts';
import { storeView } from '../../output/views/store.ts';
import { value } from '../args/option.ts';
import { command } from '../command.ts';
import { configOf, profileName } from '../settings/settings.ts';

const budgetSettings = { day: 'budgetDay', month: 'budgetMonth' } as const;

const period = { name: 'period', help: 'month or day', choices: ['month', 'day'] };

export const budgetSet = command({
  path: 'budget set',
  summary: 'Limit what a profile may spend per day or month',
  about: [
    'The budget applies to all runs of the profile on this machine together, including those that are running: each paid call is checked before it is sent. With a shared store, it applies to all machines of the key. Days and months are UTC. When a budget is used up, a run ends with exit code 6; a tail with --wait-for-budget sleeps until the budget renews.',
    'Without a store, the budget counts what the ledger of this machine recorded; calls whose answers were lost count with their maximum cost. In a store, the budget also counts what other programs spent with the key. That spending is known with a delay of up to ten minutes, and a day budget counts only the part after the first call that was sent through the store that day. --machine limits one machine that uses the store.',
  ],
  args: [period, { name: 'amount', help: 'CU, such as 500k or 15M' }],
  options: {
    machine: value('--machine', 'with a store: limit only the machine with this name', plainName),
  },
  examples: {
    'trdr budget set day 500k': 'limit all runs of this profile together, per day (UTC)',
    'trdr budget set month 15M': 'limit all runs of this profile together, per month (UTC)',
    'trdr budget set day 500k --machine nightly': 'limit one machine that uses the store',
  },
  savesSettings: true,
  exits: [0, 2, 4, 9],
  parse([word, amount = ''], { machine }) {
    const period = periodOf(word);
    const cu = units.read(amount);
    if (cu === undefined) throw usageError(`invalid amount "${amount}"`, units.hint);
    return { period, cu, machine };
  },
  async run(context, { period, cu, machine }) {
    const store = await context.service.store();
    if (store === undefined) {
      checkLocal(machine);
      const profile = profileName(context.terminal.io, context.settings.flags, true);
      await configOf(context.terminal.io).set(profile, budgetSettings[period], String(cu));
      context.terminal.notice(
        `Set the ${period} budget of profile "${profile}" to ${unitsText(cu)}`,
      );
      return;
    }
    const { setBudget } = await import('../../store/budgets.ts');
    await setBudget(store, { period, machine }, cu);
    context.terminal.notice(
      `Set the ${period} budget of ${ownerText(machine)} to ${unitsText(cu)}`,
    );
  },
});

function periodOf(word = ''): 'month' | 'day' {
  if (word === 'month' || word === 'day') return word;
  throw usageError(`invalid period "${word}"`, 'choose from month, day');
}

const ownerText = (machine: string | undefined) => machine ?? 'all machines';

function checkLocal(machine: string | undefined): void {
  if (machine === undefined) return;
  throw usageError('--machine requires a store', 'run "trdr store login URL", or set TRDR_STORE');
}

export const budgetUnset = command({
  path: 'budget unset',
  summary: 'Remove a budget',
  about: [
    'Removes the budget of the profile and, with a shared store, also the budget that all machines share. With --machine, removes only the budget of that machine in the store.',
  ],
  args: [period],
  options: {
    machine: value(
      '--machine',
      'with a store: only the budget of the machine with this name',
      plainName,
    ),
  },
  examples: { 'trdr budget unset day': 'remove the limit per day' },
  savesSettings: true,
  exits: [0, 2, 4, 9],
  parse: ([word], { machine }) => ({ period: periodOf(word), machine }),
  async run(context, { period, machine }) {
    const removed: string[] = [];
    const store = await context.service.store();
    if (store === undefined) checkLocal(machine);
    else {
      const { unsetBudget } = await import('../../store/budgets.ts');
      if (await unsetBudget(store, { period, machine })) removed.push(ownerText(machine));
    }
    if (machine === undefined) {
      const profile = profileName(context.terminal.io, context.settings.flags);
      const was = await configOf(context.terminal.io).unset(profile, budgetSettings[period]);
      if (was) removed.push(`profile "${profile}"`);
    }
    context.terminal.notice(
      removed.length > 0
        ? `Removed the ${period} budget of ${removed.join(' and ')}`
        : machine === undefined
          ? `no ${period} budget was set`
          : `no ${period} budget was set for machine "${machine}"`,
    );
  },
});

export const budgetShow = command({
  path: 'budget show',
  summary: 'Show the budgets and what is left of them',
  about: [
    'Shows what was spent in the current UTC day and month. Also shows what is reserved for calls in flight, and what calls with lost answers and socket minutes that are not confirmed may have cost. With a budget, also shows what is left and when the budget renews.',
    'With a shared store, shows the budgets of the store, then the budgets of the profile on this machine, if there are any. If the store has a budget, the amount spent is what the service has counted for the key, unless the store has recorded more.',
  ],
  common: ['output'],
  examples: {
    'trdr budget show': 'show what is left',
    "trdr budget show -o json | jq '.[] | {name, left}'":
      'print the remaining amounts for a script',
  },
  record: () => StoreItem,
  exits: [0, 2, 4, 9],
  async run(context) {
    const { localBudgets } = await import('../run/budgets.ts');
    const own = await localBudgets(context);
    const store = await context.service.store();
    if (store === undefined) {
      await context.out.print(storeView, own);
      return;
    }
    // Raise the spending in the store to the usage that the service counts.
    await (await context.service.ledger()).budgets?.();
    const { readStatus } = await import('../../store/status.ts');
    const items = await store.link.use((connection) => readStatus(connection, store.keys));
    const { profile } = context.settings;
    await context.out.print(storeView, [
      ...items.filter(({ item }) => item === 'budget'),
      ...own
        .filter(({ limit }) => limit !== null)
        .map((line) => ({ ...line, name: `${line.name} of profile ${profile}` })),
    ]);
  },
});
