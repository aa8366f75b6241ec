import type { AnswerCache, Client } from '../core/ports.ts';
import { createUserSource, type UserSource } from '../core/users.ts';
import { openCache } from '../state/cache.ts';
import type { Context } from './context.ts';

/** The service, connected to with the first call: kept answers need none. */
export const lazyClient = (context: Context): Pick<Client, 'call'> => ({
  call: async (...call) => (await context.client()).call(...call),
});

/** Users by handle, wallet or id: from kept answers where they are young enough, else from the service. */
export const openUsers = (
  context: Context,
  { noCache = false, maxAge }: { readonly noCache?: boolean; readonly maxAge?: number | undefined } = {},
): UserSource =>
  createUserSource({
    client: lazyClient(context),
    clock: context.io.clock,
    cache: noCache ? undefined : openAnswers(context),
    maxAgeMs: maxAge ?? context.settings.maxAge,
  });

/** The answers kept for the service in use; none where it is not known yet. */
function openAnswers(context: Context): AnswerCache | undefined {
  if (context.scope === undefined) return undefined;
  return openCache({
    ...context.scope,
    dir: context.settings.folders.cache,
    now: context.io.clock.now,
    notice: context.say,
  });
}
