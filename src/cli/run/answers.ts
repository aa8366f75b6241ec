import { once } from '../../base/calls.ts';
import type { AnswerCache } from '../../contract/ports/answers.ts';
import { openCache } from '../../state/cache.ts';
import type { AccountSharing } from './account.ts';
import type { Context } from './context.ts';

/** The cached answers on this machine and in the store; undefined if the base URL or the key is not configured. */
export async function openAnswers(context: Context): Promise<AnswerCache | undefined> {
  const { terminal, settings, bill } = context;
  const { scope } = context.service;
  if (scope === undefined) return undefined;
  const key = await scope.key();
  const local = openCache({
    baseUrl: scope.baseUrl,
    key,
    dir: settings.folders.cache,
    now: terminal.io.clock.now,
    notice(text) {
      bill.isCached = false;
      terminal.notice(text);
    },
  });
  const { store } = settings;
  if (store === undefined || store === 'off' || settings.flags.sandbox) return local;
  return sharedAnswers(context, local, key);
}

/** The code for the store is loaded only when an answer is not cached on this machine. */
function sharedAnswers(context: Context, local: AnswerCache, key: string): AnswerCache {
  const shared = once(async (): Promise<AnswerCache> => {
    const store = await context.service.store();
    if (store === undefined) return local;
    const { createSharedAnswers } = await import('../../store/answers.ts');
    const { clock, random } = context.terminal.io;
    return createSharedAnswers(store.link, local, key, clock, random);
  });
  return {
    get: (endpoint, subject) => local.get(endpoint, subject),
    put: async (endpoint, subject, answer) => (await shared()).put(endpoint, subject, answer),
    claim: async (wanted, signal) =>
      (await shared()).claim?.(wanted, signal) ?? { by: 'us', end: async () => {} },
  };
}

/** What the run needs to share the answer of `me`; undefined if the run has no store. */
export async function accountSharing(context: Context): Promise<AccountSharing | undefined> {
  const { claim } = (await openAnswers(context)) ?? {};
  return claim && { claim, now: context.terminal.io.clock.now };
}
