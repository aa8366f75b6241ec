import { unitsText } from '../base/units.ts';
import { budgetText } from '../contract/budget.ts';
import { storeFailure } from './failures.ts';
import type { StoreLink } from './link.ts';
import type { StoreMemory } from './memory.ts';
import { removeBudget } from './scripts/spending.ts';

/** A budget for all machines, or for one machine. */
export interface StoreBudget {
  readonly period: 'month' | 'day';
  readonly machine: string | undefined;
  readonly cu: number;
}

const fieldOf = ({ period, machine }: Pick<StoreBudget, 'period' | 'machine'>) =>
  machine === undefined ? period : `${period}@${machine}`;

/** What changing a budget needs: the store, and what this machine remembers of its budgets. */
interface BudgetStore {
  readonly link: StoreLink;
  readonly machine: string;
  readonly memory: StoreMemory;
}

/** Sets a budget of a key in the store. */
export async function setBudget({ link, machine: own, memory }: BudgetStore, budget: StoreBudget) {
  const { machine, cu } = budget;
  const field = fieldOf(budget);
  await link.use(async (store) => {
    if (store.server.evicts) throw evictingFailure();
    await store.send('HSET', [link.keys.caps, field, cu]);
  });
  if (machine === undefined || machine === own)
    memory.update({ budgets: { ...memory.read().budgets, [field]: cu } });
}

/** Removes a budget; returns false if the budget did not exist. */
export async function unsetBudget(
  { link, memory }: BudgetStore,
  budget: Pick<StoreBudget, 'period' | 'machine'>,
): Promise<boolean> {
  const field = fieldOf(budget);
  const limit = await link.use((store) => store.run(removeBudget, [link.keys.caps], [field]));
  const { [field]: remembered, ...budgets } = memory.read().budgets;
  memory.update({ budgets });
  return limit !== null || remembered !== undefined;
}

/** The names of the remembered budgets that limit this machine. */
export const rememberedBudgets = (memory: StoreMemory, machine: string): string[] =>
  Object.keys(memory.read().budgets).filter((name) => (name.split('@')[1] ?? machine) === machine);

/**
 * The failure for budgets that this machine remembers, and that the store has neither as limits nor as removed. The
 * store has lost its data, and spending would no longer be limited.
 */
export function goneFailure(names: readonly string[], memory: StoreMemory) {
  const { budgets } = memory.read();
  const gone = names.map((name) => {
    const [of, machine] = name.split('@');
    const period = of === 'day' ? ('day' as const) : ('month' as const);
    const scope = machine === undefined ? ('key' as const) : ('machine' as const);
    const [cu, flag] = [budgets[name] ?? 0, machine === undefined ? '' : ` --machine ${machine}`];
    return {
      text: `${budgetText({ period, scope, name: machine ?? '' })} (${unitsText(cu)})`,
      set: `"trdr budget set ${period} ${cu}${flag}"`,
      unset: `"trdr budget unset ${period}${flag}"`,
    };
  });
  const list = (what: 'text' | 'set' | 'unset') => gone.map((one) => one[what]).join(' and ');
  const it = gone.length > 1 ? 'them' : 'it';
  return storeFailure(
    'STORE_UNFIT',
    `the store has lost ${list('text')}; paid calls are stopped until ${gone.length > 1 ? 'they are' : 'it is'} set or unset`,
    `set ${it} again: ${list('set')}; or drop ${it}: ${list('unset')}`,
  );
}

/**
 * The failure for a server that removes keys when its memory is full. Such a server could remove a budget, and
 * spending would no longer be limited.
 */
export const evictingFailure = () =>
  storeFailure(
    'STORE_UNFIT',
    'the store removes keys when its memory is full, and could remove the budgets',
    'set "maxmemory-policy noeviction" on the server, then set the budgets again with "trdr budget set"',
  );
