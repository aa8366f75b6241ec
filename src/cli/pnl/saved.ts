import { createSavedNumbers, NUMBERS_AGE_MS, type SavedNumbers } from '../../core/pnl/saved-numbers.ts';
import type { Context } from '../context.ts';
import { openAnswers } from '../lookup/open-lookup.ts';

/** How a run uses the cache. */
export interface CacheUse {
  readonly noCache: boolean;
  readonly maxAge: number | undefined;
}

/** The cached numbers of the service in use; undefined where there is no cache for the run. */
export function openSavedNumbers(context: Context, { noCache, maxAge }: CacheUse): SavedNumbers | undefined {
  const cache = noCache ? undefined : openAnswers(context);
  if (!cache) return undefined;
  context.answersAreCached();
  return createSavedNumbers({
    cache,
    now: context.io.clock.now,
    // The setting is meant for users, whose answers stay true for longer.
    maxAgeMs: maxAge ?? Math.min(context.settings.maxAge, NUMBERS_AGE_MS),
  });
}

/** The handles of a run, divided into those with a cached answer and those to be requested. */
export interface Division {
  readonly todo: readonly number[];
  isCached(position: number): boolean;
}

/** Looks up the handles at these positions in the cache. Needs one byte of memory for each; answers are not kept. */
export async function divide(
  saved: SavedNumbers | undefined,
  subjects: readonly string[],
  positions: readonly number[],
): Promise<Division> {
  if (!saved) return { todo: positions, isCached: () => false };
  const cached = new Uint8Array(subjects.length);
  const todo: number[] = [];
  for (const position of positions) {
    if (await saved.find(subjects[position] ?? '')) cached[position] = 1;
    else todo.push(position);
  }
  return { todo, isCached: (position) => cached[position] === 1 };
}

/** All positions of a list. */
export const everyPosition = (list: readonly unknown[]): number[] => list.map((_, at) => at);
