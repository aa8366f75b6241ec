import type { AnswerCache } from '../core/ports.ts';
import { openCache } from '../state/cache.ts';
import type { Context } from './context.ts';

/** The answers kept for the service in use; none where it is not known yet. */
export function openAnswers(context: Context): AnswerCache | undefined {
  if (context.scope === undefined) return undefined;
  return openCache({
    ...context.scope,
    dir: context.settings.folders.cache,
    now: context.io.clock.now,
    notice: context.say,
  });
}
