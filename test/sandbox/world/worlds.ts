import { generateRecords, type WorldSize } from '../../../src/sandbox/world/generated/index.ts';
import { createWorld, type World } from '../../../src/sandbox/world/world.ts';

/** A time that is not a full minute. */
export const NOW = Date.UTC(2026, 5, 1, 12, 34, 56, 789);

/** A generated world whose history ends at `NOW`. */
export const worldOf = (seed: number, size?: WorldSize): World =>
  createWorld(generateRecords(seed, NOW, size), seed);

/** Options of randomized tests: `SEED=n` repeats a failed one. */
export const runs = (numRuns: number) => {
  const seed = process.env['SEED'];
  return { numRuns, ...(seed ? { seed: Number(seed) } : {}) };
};

/** Reads a feed to its end. */
export function walk<T extends { id: string }>(
  page: (before: string | undefined) => { readonly items: readonly T[]; readonly hasMore: boolean } | null,
): T[] {
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
  const user = world.user(handle);
  if (!user) throw new Error(`no user ${handle}`);
  return user;
}

/** The first item, which must exist. */
export function first<T>(items: readonly T[]): T {
  const [item] = items;
  if (item === undefined) throw new Error('nothing there');
  return item;
}
