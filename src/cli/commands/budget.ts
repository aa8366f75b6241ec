import { units } from '../../base/amounts.ts';
import { usageError } from '../../base/failure.ts';
import { group, unitsText } from '../../base/units.ts';
import { plainName } from '../../base/values.ts';
import { budgetText, type Measure, periodText } from '../../contract/budget.ts';
import { StoreItem } from '../../contract/records/store.ts';
import { storeView } from '../../output/views/store.ts';
import { excluding, flag, value } from '../args/option.ts';
import { command } from '../command.ts';
import { configOf, profileName } from '../settings/settings.ts';
import budgetSetPage from './budget-set.md';
import budgetShowPage from './budget-show.md';
import budgetUnsetPage from './budget-unset.md';

const settingOf = {
  units: { day: 'budgetDay', month: 'budgetMonth' },
  reveals: { day: 'budgetDayReveals', month: 'budgetMonthReveals' },
} as const;

const measureOf = (reveals: boolean): Measure => (reveals ? 'reveals' : 'units');

const period = { name: 'period', help: 'month or day', choices: ['month', 'day'] };

export const budgetSet = command({
  path: 'budget set',
  page: budgetSetPage,
  args: [period, { name: 'amount', help: 'CU, such as 500k or 15M; with --reveals, wallets' }],
  options: {
    reveals: excluding(
      flag('--reveals', 'limit the wallets that are revealed in place of CU'),
      '--machine',
    ),
    machine: value('--machine', 'with a store: limit only the machine with this name', plainName),
  },
  savesSettings: true,
  settings: 'tolerant',
  exits: [4, 9],
  parse([word, amount = ''], { machine, reveals }) {
    const period = periodOf(word);
    const cu = units.read(amount);
    if (cu === undefined) throw usageError(`invalid amount "${amount}"`, units.hint);
    return { period, amount: cu, machine, measure: measureOf(reveals) };
  },
  async run(context, { period, amount, machine, measure }) {
    const store = await context.service.store();
    if (store === undefined) {
      checkLocal(machine);
      const profile = profileName(context.terminal.io, context.settings.flags, true);
      const setting = settingOf[measure][period];
      await configOf(context.terminal.io).set(profile, setting, String(amount));
      const name = budgetText({ period, measure, scope: 'profile', name: profile });
      context.terminal.notice(`Set ${name} to ${valueText(measure, amount)}`);
      return;
    }
    const { setBudget } = await import('../../store/budgets.ts');
    await setBudget(store, { period, measure, machine }, amount);
    const name = periodText({ period, measure });
    context.terminal.notice(
      `Set the ${name} of ${ownerText(machine)} to ${valueText(measure, amount)}`,
    );
  },
});

function periodOf(word = ''): 'month' | 'day' {
  if (word === 'month' || word === 'day') return word;
  throw usageError(`invalid period "${word}"`, 'choose from month, day');
}

/** The amount of a budget, whose name says what it counts. */
const valueText = (measure: Measure, amount: number) =>
  measure === 'reveals' ? group(amount) : unitsText(amount);

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
    reveals: excluding(flag('--reveals', 'the budget of wallet reveals'), '--machine'),
    machine: value(
      '--machine',
      'with a store: only the budget of the machine with this name',
      plainName,
    ),
  },
  savesSettings: true,
  settings: 'tolerant',
  exits: [4, 9],
  parse: ([word], { machine, reveals }) => ({
    period: periodOf(word),
    machine,
    measure: measureOf(reveals),
  }),
  async run(context, { period, machine, measure }) {
    const removed: string[] = [];
    const store = await context.service.store();
    if (store === undefined) checkLocal(machine);
    else {
      const { unsetBudget } = await import('../../store/budgets.ts');
      if (await unsetBudget(store, { period, measure, machine })) removed.push(ownerText(machine));
    }
    if (machine === undefined) {
      const profile = profileName(context.terminal.io, context.settings.flags);
      const setting = settingOf[measure][period];
      const was = await configOf(context.terminal.io).unset(profile, setting);
      if (was) removed.push(`profile "${profile}"`);
    }
    const owner = machine === undefined ? '' : ` for machine "${machine}"`;
    context.terminal.notice(
      removed.length > 0
        ? `Removed the ${periodText({ period, measure })} of ${removed.join(' and ')}`
        : `no ${periodText({ period, measure })} was set${owner}`,
    );
  },
});

export const budgetShow = command({
  path: 'budget show',
  page: budgetShowPage,
  common: ['output'],
  record: () => StoreItem,
  exits: [4, 9],
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
    const items = await store.link.use((connection) => readStatus(connection, store));
    const { profile } = context.settings;
    await context.out.print(storeView, [
      ...items.filter(({ item }) => item === 'budget'),
      ...own
        .filter(({ limit }) => limit !== null)
        .map((line) => ({ ...line, name: `${line.name} of profile ${profile}` })),
    ]);
  },
});
