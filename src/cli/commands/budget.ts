import { units } from '../../base/amounts.ts';
import { usageError } from '../../base/failure.ts';
import { unitsText } from '../../base/units.ts';
import { plainName } from '../../base/values.ts';
import { StoreItem } from '../../contract/records/store.ts';
import { storeView } from '../../output/views/store.ts';
import { value } from '../args/option.ts';
import { command } from '../command.ts';
import { configOf, profileName } from '../settings/settings.ts';
import budgetSetPage from './budget-set.md';
import budgetShowPage from './budget-show.md';
import budgetUnsetPage from './budget-unset.md';

const budgetSettings = { day: 'budgetDay', month: 'budgetMonth' } as const;

const period = { name: 'period', help: 'month or day', choices: ['month', 'day'] };

export const budgetSet = command({
  path: 'budget set',
  page: budgetSetPage,
  args: [period, { name: 'amount', help: 'CU, such as 500k or 15M' }],
  options: {
    machine: value('--machine', 'with a store: limit only the machine with this name', plainName),
  },
  savesSettings: true,
  settings: 'tolerant',
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
  page: budgetUnsetPage,
  args: [period],
  options: {
    machine: value(
      '--machine',
      'with a store: only the budget of the machine with this name',
      plainName,
    ),
  },
  savesSettings: true,
  settings: 'tolerant',
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
    const owner = machine === undefined ? '' : ` for machine "${machine}"`;
    context.terminal.notice(
      removed.length > 0
        ? `Removed the ${period} budget of ${removed.join(' and ')}`
        : `no ${period} budget was set${owner}`,
    );
  },
});

export const budgetShow = command({
  path: 'budget show',
  page: budgetShowPage,
  common: ['output'],
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
