import { createTokens } from '../../../src/sandbox/world/generated/tokens.ts';
import { createTraders } from '../../../src/sandbox/world/generated/traders.ts';
import { createTrades, HISTORY_MS, TRADES_PER_THESIS } from '../../../src/sandbox/world/generated/trades.ts';
import { seedOf } from '../../../src/sandbox/world/hash.ts';
import type { Slice, World } from '../../../src/sandbox/world/types.ts';

/** A time that is not a full minute. */
export const NOW = Date.UTC(2026, 5, 1, 12, 34, 56, 789);

/** Options of randomized tests: `SEED=n` repeats a failed one. */
export const runs = (numRuns: number) => {
  const seed = process.env['SEED'];
  return { numRuns, ...(seed ? { seed: Number(seed) } : {}) };
};

/** The history from which a world with the same options is generated. */
export function historyOf(seed: number, theses: number, tokenCount = 180, traderCount = 500) {
  const mixed = seedOf(seed);
  const traders = createTraders(mixed, traderCount);
  const tokens = createTokens(mixed, tokenCount, NOW - HISTORY_MS);
  const trades = createTrades(mixed, traders, tokens, theses * TRADES_PER_THESIS, NOW);
  return { traders, tokens, trades };
}

/** The items of a slice that must exist. */
export function itemsOf<T>(slice: Slice<T>): readonly T[] {
  if (!slice) throw new Error('the cursor is unknown');
  return slice.items;
}

/** Reads a feed to its end. */
export function walk<T extends { id: string }>(page: (before: string | undefined) => Slice<T>): T[] {
  const all: T[] = [];
  let before: string | undefined;
  for (;;) {
    const slice = page(before);
    if (!slice) throw new Error(`the cursor ${before} is unknown`);
    all.push(...slice.items);
    if (!slice.hasMore) return all;
    before = slice.items.at(-1)?.id;
  }
}

/** A user who must exist. */
export function userOf(world: World, handle: string) {
  const user = world.users.byHandle(handle);
  if (!user) throw new Error(`no user ${handle}`);
  return user;
}

/** The first item, which must exist. */
export function first<T>(items: readonly T[]): T {
  const [item] = items;
  if (item === undefined) throw new Error('nothing there');
  return item;
}
