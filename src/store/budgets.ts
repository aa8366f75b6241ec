import { storeFailure } from './failures.ts';
import type { StoreLink } from './link.ts';

/** A budget of all machines, or of one of them. */
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
  /** False if there was no such budget. */
  unset(budget: Pick<StoreBudget, 'period' | 'machine'>): Promise<boolean>;
}

export function storeBudgets({ link }: { readonly link: StoreLink }): StoreBudgets {
  const { caps } = link.keys;
  return {
    async list() {
      const answer = await link.use((store) => store.send('HGETALL', [caps]));
      const flat = Array.isArray(answer) ? answer.map(String) : [];
      const budgets: StoreBudget[] = [];
      for (let at = 0; at + 1 < flat.length; at += 2) {
        const [period, machine] = (flat[at] ?? '').split('@');
        const cu = Number(flat[at + 1]);
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

/** A full server that drops keys could drop the budget, and then nothing would be limited. */
export const evictingFailure = () =>
  storeFailure(
    'STORE_UNFIT',
    'the store drops keys when its memory is used up, and budgets with them',
    'set maxmemory-policy noeviction on the server, and the budget again; "trdr store check" examines the server',
  );
