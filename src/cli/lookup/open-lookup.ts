import type { AnswerCache, Client } from '../../contract/ports.ts';
import { type CachedLookup, createCachedLookup } from '../../core/lookup/cached-lookup.ts';
import { openCache } from '../../state/cache.ts';
import type { Context } from '../context.ts';

/** A client that connects with the first call: cached answers need none. */
export function lazyClient(context: Context): Pick<Client, 'call' | 'mayRepeat'> {
  let client: Client | undefined;
  return {
    async call(...given) {
      client ??= await context.client();
      return client.call(...given);
    },
    mayRepeat: (cu) => client?.mayRepeat(cu) ?? true,
  };
}

/** Users by handle, wallet or id: from kept answers where they are young enough, else from the service. */
export const openCachedLookup = (
  context: Context,
  { noCache = false, maxAge }: { readonly noCache?: boolean; readonly maxAge?: number | undefined } = {},
): CachedLookup =>
  createCachedLookup({
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
    notice: context.notice,
  });
}
