import { NUMBERS_AGE_MS } from '../../contract/answer-age.ts';
import { SavedNumbers } from '../../core/pnl/cached-numbers.ts';
import { openAnswers } from '../run/answers.ts';
import type { Context } from '../run/context.ts';

/**
 * The cached numbers for the present base URL and key; undefined if the run does not use the cache.
 */
export async function openSavedNumbers(
  context: Context,
  noCache: boolean,
  maxAge: number | undefined,
): Promise<SavedNumbers | undefined> {
  const cache = noCache ? undefined : await openAnswers(context, true);
  if (!cache) return undefined;
  context.bill.isCached = context.settings.folders.cache !== undefined;
  // The setting is meant for records of users, which stay valid for longer than numbers.
  const maxAgeMs = maxAge ?? Math.min(context.settings.maxAge, NUMBERS_AGE_MS);
  return new SavedNumbers(cache, context.terminal.io.clock.now, maxAgeMs);
}
