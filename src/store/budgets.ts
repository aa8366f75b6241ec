import { storeFailure } from './failures.ts';
import type { StoreLink } from './link.ts';
import { hashReply } from './replies.ts';

/** A budget for all machines, or for one machine. */
export interface StoreBudget {
  readonly period: 'month' | 'day';
  readonly machine: string | undefined;
  readonly cu: number;
}

const fieldOf = ({ period, machine }: Pick<StoreBudget, 'period' | 'machine'>) =>
  machine === undefined ? period : `${period}@${machine}`;

/** The budgets of a key in the store. */
export interface StoreBudgets {
  list(): Promise<StoreBudget[]>;
  set(budget: StoreBudget): Promise<void>;
  /** Removes a budget; returns false if the budget did not exist. */
  unset(budget: Pick<StoreBudget, 'period' | 'machine'>): Promise<boolean>;
}

export function storeBudgets({ link }: { readonly link: StoreLink }): StoreBudgets {
  const { caps } = link.keys;
  return {
    async list() {
      const budgets: StoreBudget[] = [];
      for (const [field, text] of await link.use((store) => hashReply(store, caps))) {
        const [period, machine] = field.split('@');
        const cu = Number(text);
        if ((period === 'month' || period === 'day') && Number.isFinite(cu))
          budgets.push({ period, machine, cu });
      }
      return budgets.sort((one, other) => (fieldOf(one) < fieldOf(other) ? -1 : 1));
    },
    async set(budget) {
      await link.use(async (store) => {
        if (store.server.evicts) throw evictingFailure();
        await store.send('HSET', [caps, fieldOf(budget), budget.cu]);
      });
    },
    unset: async (budget) => (await link.use((store) => store.send('HDEL', [caps, fieldOf(budget)]))) === 1,
  };
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
