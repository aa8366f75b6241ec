import { once } from '../../base/calls.ts';
import type { AnswerCache } from '../../contract/ports/answers.ts';
import type { Client } from '../../contract/ports/client.ts';
import { type CachedLookup, createCachedLookup } from '../../core/lookup/cached-lookup.ts';
import { openCache } from '../../state/cache.ts';
import type { Context } from '../context.ts';

/** A client that is created when the first call is sent, because cached answers need no client. */
export function lazyClient(context: Context): Pick<Client, 'call' | 'affords'> {
  let client: Client | undefined;
  return {
    async call(...given) {
      client ??= await context.client();
      return client.call(...given);
    },
    affords: (cu) => client?.affords(cu) ?? true,
  };
}

export const openCachedLookup = async (
  context: Context,
  {
    noCache = false,
    maxAge,
  }: { readonly noCache?: boolean; readonly maxAge?: number | undefined } = {},
): Promise<CachedLookup> =>
  createCachedLookup(
    lazyClient(context),
    context.io.clock,
    noCache ? undefined : await openAnswers(context),
    maxAge ?? context.settings.maxAge,
  );

/** On this machine and in the store; undefined if the base URL or the key is not configured. */
export async function openAnswers(context: Context): Promise<AnswerCache | undefined> {
  const { scope, settings, io, notice } = context;
  if (scope === undefined) return undefined;
  const key = await scope.key();
  const local = openCache({
    baseUrl: scope.baseUrl,
    key,
    dir: settings.folders.cache,
    now: io.clock.now,
    notice(text) {
      context.answersAreCached(false);
      notice(text);
    },
  });
  const { store } = settings;
  if (store === undefined || store === 'off' || context.globals.sandbox) return local;
  return sharedAnswers(context, local, key);
}

/** The code for the store is loaded only when an answer is not cached on this machine. */
function sharedAnswers(context: Context, local: AnswerCache, key: string): AnswerCache {
  const shared = once(async (): Promise<AnswerCache> => {
    const store = await context.store();
    if (store === undefined) return local;
    const { createSharedAnswers } = await import('../../store/answers.ts');
    const { clock, random } = context.io;
    return createSharedAnswers(store.link, local, key, clock, random);
  });
  return {
    get: (endpoint, subject) => local.get(endpoint, subject),
    put: async (endpoint, subject, answer) => (await shared()).put(endpoint, subject, answer),
    claim: async (wanted, signal) =>
      (await shared()).claim?.(wanted, signal) ?? { by: 'us', end: async () => {} },
  };
}
