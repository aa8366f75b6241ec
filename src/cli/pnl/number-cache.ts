import { NUMBERS_AGE_MS } from '../../core/answer-ages.ts';
import { createSavedNumbers, type SavedNumbers } from '../../core/pnl/cached-numbers.ts';
import type { Targets } from '../../core/pnl/targets.ts';
import type { Context } from '../context.ts';
import { openAnswers } from '../lookup/open-lookup.ts';

/** The options that determine how a run uses the cache. */
export interface CacheUse {
  readonly noCache: boolean;
  readonly maxAge: number | undefined;
}

/** The cached numbers for the present base URL and key; undefined if the run does not use the cache. */
export async function openSavedNumbers(
  context: Context,
  { noCache, maxAge }: CacheUse,
): Promise<SavedNumbers | undefined> {
  const cache = noCache ? undefined : await openAnswers(context);
  if (!cache) return undefined;
  context.answersAreCached();
  return createSavedNumbers({
    cache,
    now: context.io.clock.now,
    // Use the setting maxAge only up to the maximum age of numbers: the setting is meant for records of
    // users, which stay valid for longer than numbers.
    maxAgeMs: maxAge ?? Math.min(context.settings.maxAge, NUMBERS_AGE_MS),
  });
}

/** The subjects of a run, divided into those with a saved answer and those to request. */
export interface Division {
  readonly todo: readonly number[];
  isCached(position: number): boolean;
  /**
   * Looks for cached answers again, after lookups have found the handles of more subjects. Returns the positions
   * that must still be requested.
   */
  check(positions: readonly number[]): Promise<readonly number[]>;
}

/**
 * Checks which subjects at these positions have saved answers. The answers stay on disk, so each position
 * needs only one byte of memory.
 */
export async function divide(
  saved: SavedNumbers | undefined,
  { texts, handleAt }: Targets,
  positions: readonly number[],
): Promise<Division> {
  if (!saved) return { todo: positions, isCached: () => false, check: async (unchecked) => unchecked };
  const cached = new Uint8Array(texts.length);
  async function check(unchecked: readonly number[]): Promise<number[]> {
    const todo: number[] = [];
    for (const position of unchecked) {
      const handle = handleAt(position);
      if (handle !== undefined && (await saved?.find(handle))) cached[position] = 1;
      else todo.push(position);
    }
    return todo;
  }
  return { todo: await check(positions), isCached: (position) => cached[position] === 1, check };
}

/** All positions of a list. */
export const everyPosition = (list: readonly unknown[]): number[] => list.map((_, at) => at);
