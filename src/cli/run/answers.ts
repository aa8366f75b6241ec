import { once } from '../../base/calls.ts';
import type { AnswerCache } from '../../contract/ports/answers.ts';
import type { AccountSharing } from '../../core/ask-account.ts';
import { FileCache } from '../../state/cache.ts';
import { PeopleBook } from '../../state/people/book.ts';
import type { Context } from './context.ts';

/**
 * The cached answers on this machine and in the store; undefined if the base URL or the key is not
 * configured. Those of other machines feed the book, and if `feedsBook`, all do.
 */
export async function openAnswers(
  context: Context,
  feedsBook = false,
): Promise<AnswerCache | undefined> {
  const { terminal, settings, bill } = context;
  const { scope } = context.service;
  if (scope === undefined) return undefined;
  const current = await scope.key();
  const cache = new FileCache({
    baseUrl: scope.baseUrl,
    get key() {
      return current();
    },
    dir: settings.folders.cache,
    now: terminal.io.clock.now,
    notice(text) {
      bill.isCached = false;
      terminal.notice(text);
    },
  });
  const { store } = settings;
  const isShared = store !== undefined && store !== 'off' && !settings.flags.sandbox;
  const book = isShared || feedsBook ? await openBook(context) : undefined;
  const local = book
    ? (await import('../../core/lookup/feed-book.ts')).feedingBook(cache, book)
    : cache;
  return isShared ? sharedAnswers(context, local, current) : local;
}

/** The people who were read with this base URL and key; undefined if these are not configured. */
export async function openBook({
  terminal,
  settings,
  service,
  bill,
}: Context): Promise<PeopleBook | undefined> {
  const { scope } = service;
  if (scope === undefined) return undefined;
  const current = await scope.key();
  return new PeopleBook({
    dir: settings.folders.state,
    baseUrl: scope.baseUrl,
    get key() {
      return current();
    },
    notice(text) {
      bill.isCached = false;
      terminal.notice(text);
    },
  });
}

/** The code for the store is loaded only when an answer is not cached on this machine. */
function sharedAnswers(context: Context, local: AnswerCache, key: () => string): AnswerCache {
  const shared = once(async (): Promise<AnswerCache> => {
    const store = await context.service.store();
    if (store === undefined) return local;
    const { SharedAnswers } = await import('../../store/answers.ts');
    const { clock, random } = context.terminal.io;
    return new SharedAnswers(store.link, local, key, clock, random);
  });
  return {
    get: (endpoint, subjects) => local.get(endpoint, subjects),
    put: async (endpoint, answers) => (await shared()).put(endpoint, answers),
    claim: async (wanted, signal) =>
      (await shared()).claim?.(wanted, signal) ?? { by: 'us', end: async () => {} },
    share: async (endpoint, subject, answer) => (await shared()).share?.(endpoint, subject, answer),
  };
}

/** What the run needs to share the answer of `me`; undefined if the run has no store. */
export async function accountSharing(context: Context): Promise<AccountSharing | undefined> {
  const { claim } = (await openAnswers(context)) ?? {};
  return claim && { claim, now: context.terminal.io.clock.now };
}
