import { systemClock } from '../../src/base/clock.ts';
import type { Failure } from '../../src/base/failure.ts';
import { periodsAt } from '../../src/base/periods.ts';
import { type SharedAnswer, withClaim } from '../../src/contract/ports/answers.ts';
import type { Ledger } from '../../src/contract/ports/ledger.ts';
import { FileWindows } from '../../src/state/rate-windows.ts';
import { readStoreUrl } from '../../src/store/address.ts';
import { SharedAnswers } from '../../src/store/answers.ts';
import { setBudget, unsetBudget } from '../../src/store/budgets.ts';
import { keysOf } from '../../src/store/keys.ts';
import { StoreLedger } from '../../src/store/ledger.ts';
import { StoreLink } from '../../src/store/link.ts';
import { StoreMemory } from '../../src/store/memory.ts';
import { StoreWindows } from '../../src/store/windows.ts';
import { memoryCache } from '../core/fakes.ts';

type Budget = Parameters<typeof setBudget>[1];

export const scope = { baseUrl: 'https://api.example.test', key: 'k' };
/** What the service counts, and how often it was asked. */
interface Meter {
  used: number;
  asked: number;
  reveals?: number;
}

/** An answer that machines want at the same time. */
const wanted = {
  endpoint: 'user.wallet',
  subject: 'w',
  maxAgeMs: 60_000,
  missAgeMs: 60_000,
} as const;

const nowhere: Ledger = {
  begin: async () => ({ settle: async () => {}, lose: async () => {}, release: async () => {} }),
};

/**
 * A machine with everything that it shares: rate limit, budgets and answers. Its clock can be advanced, which ends the
 * pause after a failure. `meter` is the usage that the service counts, against which budgets are verified.
 */
export function machine(
  server: { readonly url: string },
  {
    name = 'a',
    key = scope.key,
    skewMs = 0,
    windowMs = 61_000,
    ttlMs = 60_000,
    // No test depends on the speed of the machine, except those that stop the server.
    commandMs = 30_000,
    stop = false,
    meter = { used: 0, asked: 0 } as Meter,
    memory = new StoreMemory(undefined, ''),
  } = {},
) {
  const skip = { ms: 0 };
  const clock = {
    ...systemClock,
    now: () => Date.now() + skewMs,
    mono: () => systemClock.mono() + skip.ms,
  };
  const patience = { commandMs, connectMs: Math.max(1_000, commandMs) };
  const link = new StoreLink(readStoreUrl(server.url), patience, keysOf(scope), clock, () => 0);
  const store = { link, machine: name, memory };
  const ledger = new StoreLedger(store, nowhere, {
    ...{ command: 'whois', clock, stop, ttlMs },
    async meter() {
      meter.asked++;
      const { used: unitsUsed, reveals: revealsUsed = 0 } = meter;
      return { unitsUsed, revealsUsed, period: periodsAt(Date.now()).month };
    },
  });
  const budgets = {
    set: ({ cu, ...budget }: Budget & { readonly cu: number }) => setBudget(store, budget, cu),
    unset: (budget: Budget) => unsetBudget(store, budget),
  };
  const notices: string[] = [];
  const local = new FileWindows({ dir: undefined, ...scope, clock: systemClock });
  const notice = (text: string) => void notices.push(text);
  const windows = new StoreWindows(store, local, clock, notice, windowMs);
  const cache = memoryCache();
  const kept = cache.entries;
  const answers = new SharedAnswers(link, cache, () => key, clock, Math.random);
  /** Asks for an answer as the program does: uses that of another machine, or runs `work` with a claim. */
  async function ask(
    work: () => Promise<SharedAnswer | Failure | undefined>,
  ): Promise<SharedAnswer | Failure | undefined> {
    const claim = await answers.claim?.(wanted);
    if (claim?.by === 'cache') return claim.answer;
    if (claim?.by === 'other' && claim.failure) return claim.failure;
    await withClaim(claim, work, (outcome) => outcome);
    return undefined;
  }
  const calls = { made: 0 };
  /** Looks a wallet up as the program does: one paid call, unless the answer is cached. */
  const lookUp = async (callMs = 0) => {
    const found = await ask(async () => {
      calls.made++;
      await systemClock.sleep(callMs);
      const user = { time: Date.now(), status: 200, record: { id: 'u' } } as const;
      await answers.put('user.wallet', new Map([['w', user]]));
      return undefined;
    });
    return found ?? answers.get('user.wallet', ['w'])[0];
  };
  return {
    ...{ link, memory, skip, notices },
    ...{ ledger, budgets, meter, windows },
    ...{ answers, kept, ask, lookUp, calls },
  };
}
