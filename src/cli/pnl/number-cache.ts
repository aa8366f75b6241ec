import { NUMBERS_AGE_MS } from '../../core/answer-ages.ts';
import { createSavedNumbers, type SavedNumbers } from '../../core/pnl/cached-numbers.ts';
import type { Targets } from '../../core/pnl/targets.ts';
import type { Context } from '../context.ts';
import { openAnswers } from '../lookup/open-lookup.ts';

/** The cached numbers for the present base URL and key; undefined if the run does not use the cache. */
export async function openSavedNumbers(
  context: Context,
  noCache: boolean,
  maxAge: number | undefined,
): Promise<SavedNumbers | undefined> {
  const cache = noCache ? undefined : await openAnswers(context);
  if (!cache) return undefined;
  context.answersAreCached();
  // Use the setting maxAge only up to the maximum age of numbers: the setting is meant for records of
  // users, which stay valid for longer than numbers.
  const maxAgeMs = maxAge ?? Math.min(context.settings.maxAge, NUMBERS_AGE_MS);
  return createSavedNumbers(cache, context.io.clock.now, maxAgeMs);
}

/**
 * Remembers which subjects have saved answers. The answers stay on disk, so each position needs only one byte of
 * memory.
 */
export function cachedPositions(saved: SavedNumbers | undefined, { texts, handleAt }: Targets) {
  const cached = new Uint8Array(texts.length);
  return {
    has: (position: number) => cached[position] === 1,
    /** Looks for the answers of these positions. Returns the positions without one. */
    async without(positions: readonly number[]): Promise<readonly number[]> {
      if (!saved) return positions;
      const rest: number[] = [];
      for (const position of positions) {
        const handle = handleAt(position);
        if (handle !== undefined && (await saved.find(handle))) cached[position] = 1;
        else rest.push(position);
      }
      return rest;
    },
  };
}

/** All positions of a list. */
export const everyPosition = (list: readonly unknown[]): number[] => list.map((_, at) => at);
