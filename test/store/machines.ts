import { systemClock } from '../../src/base/clock.ts';
import type { Failure } from '../../src/base/failure.ts';
import { periodsAt } from '../../src/base/periods.ts';
import {
  type AnswerCache,
  type SharedAnswer,
  type WantedAnswer,
  withClaim,
} from '../../src/contract/answer-ports.ts';
import type { Ledger } from '../../src/contract/ports.ts';
import { readStoreUrl } from '../../src/store/address.ts';
import { type StoreBudget, setBudget, unsetBudget } from '../../src/store/budgets.ts';
import { keysOf } from '../../src/store/keys.ts';
import { createStoreLedger } from '../../src/store/ledger.ts';
import { createLink } from '../../src/store/link.ts';
import { createMemory, type StoreMemory } from '../../src/store/memory.ts';
import type { StoreServer } from './server.ts';

export const scope = { baseUrl: 'https://api.example.test', key: 'k' };

/** The usage that the service counts, against which budgets are verified. */
export const createMeter = (): Meter => ({ used: 0, asked: 0 });
export interface Meter {
  used: number;
  asked: number;
  /** Requests the usage from a service that other processes use too; by default, `used` is returned. */
  ask?: () => Promise<number>;
}

const nowhere: Ledger = {
  begin: async () => ({ settle: async () => {}, lose: async () => {}, release: async () => {} }),
};

/**
 * What a machine remembers between its runs. A run that starts while the store is unavailable then knows the
 * number of machines, and whether there is a shared budget.
 */
export function savedMemory(folder: string, name: string): StoreMemory {
  return createMemory(folder, name);
}

/** A machine that spends through a store. Its clock can be advanced, which ends the pause after a failure. */
export function spendingMachine(
  server: Pick<StoreServer, 'url'>,
  meter: Meter,
  {
    name = 'a',
    stop = false,
    ttlMs = 60_000,
    commandMs = 1_000,
    memory = createMemory(undefined, ''),
  }: {
    readonly name?: string;
    readonly stop?: boolean;
    readonly ttlMs?: number;
    readonly commandMs?: number;
    readonly memory?: StoreMemory;
  } = {},
) {
  const skip = { ms: 0 };
  const clock = { ...systemClock, mono: () => systemClock.mono() + skip.ms };
  const address = readStoreUrl(server.url);
  const link = createLink(address, { commandMs }, keysOf(scope), clock, () => 0);
  const store = { link, machine: name, memory };
  const ledger = createStoreLedger(store, nowhere, {
    ...{ command: 'whois', clock, stop, ttlMs },
    async meter() {
      meter.asked++;
      if (meter.ask) meter.used = await meter.ask();
      return { unitsUsed: meter.used, period: periodsAt(Date.now()).month };
    },
  });
  const budgets = {
    set: ({ cu, ...budget }: StoreBudget & { readonly cu: number }) => setBudget(store, budget, cu),
    unset: (budget: StoreBudget) => unsetBudget(store, budget),
  };
  return { link, ledger, memory, skip, budgets };
}

/** Asks for an answer as the program does: uses that of another machine, or runs `work` with a claim. */
export async function askOnce<T extends SharedAnswer | Failure | undefined>(
  answers: AnswerCache,
  wanted: WantedAnswer,
  work: () => Promise<T>,
): Promise<SharedAnswer | Failure | undefined> {
  const claim = await answers.claim?.(wanted);
  if (claim?.by === 'cache') return claim.answer;
  if (claim?.by === 'other' && claim.failure) return claim.failure;
  await withClaim(claim, work, (outcome) => outcome);
  return undefined;
}
