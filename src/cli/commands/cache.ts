import { usageError } from '../../base/failure.ts';
import { countText } from '../../base/units.ts';
import { CacheRecord } from '../../contract/records/tool.ts';
import { cacheView } from '../../output/views/usage.ts';
import { FileCache } from '../../state/cache.ts';
import { clearAllKept } from '../../state/kept-logs.ts';
import { PeopleBook } from '../../state/people/book.ts';
import { flag } from '../args/option.ts';
import { command } from '../command.ts';
import { agree } from '../prompt.ts';
import type { Context } from '../run/context.ts';
import type { Terminal } from '../run/terminal.ts';
import cacheClearPage from './cache-clear.md';
import cacheStatsPage from './cache-stats.md';

export const cacheStats = command({
  path: 'cache stats',
  page: cacheStatsPage,
  common: ['output'],
  record: () => CacheRecord,
  exits: [9],
  async run(context) {
    const { cache, book } = await openMemory(context);
    const { path, ...answers } = cache.stats();
    const { people, wallets, bytes, oldest } = book.stats();
    const record: CacheRecord = {
      ...answers,
      path: path ?? context.settings.folders.cache ?? null,
      people,
      wallets,
      peopleBytes: bytes,
      peopleOldest: oldest,
      peoplePath: book.folder ?? null,
    };
    await context.out.print(cacheView, [record], { isSingle: true });
  },
});

export const cacheClear = command({
  path: 'cache clear',
  page: cacheClearPage,
  options: {
    all: flag('--all', 'clear the cache for all keys and base URLs'),
    people: flag('--people', 'also forget the people whose answers were paid for'),
    yes: flag('-y, --yes', 'forget people without asking'),
  },
  exits: [9, 11, 130],
  async run(context, { all, people, yes }) {
    const { terminal, service, settings } = context;
    if (service.scope === undefined && !all) {
      throw usageError(
        'no base URL or no key configured; cannot tell which cache to clear',
        'use --all to clear everything',
      );
    }
    const { cache, book } = await openMemory(context, !all);
    if (people && !yes) await askToForget(all ? undefined : book, terminal);
    await (all ? clearAllKept(settings.folders.cache, 'answers') : cache.clear());
    if (people) await (all ? clearAllKept(settings.folders.state, 'people') : book.clear());
    const what = people ? 'the cache and the people' : 'the cache';
    terminal.notice(all ? `Cleared ${what} for all keys` : `Cleared ${what} for this key`);
  },
});

/** The answers and the people of the configured key; what concerns all keys needs none. */
async function openMemory({ terminal, service, settings }: Context, hasKey = true) {
  const scope = hasKey ? service.scope : undefined;
  const { folders } = settings;
  const baseUrl = scope?.baseUrl ?? '';
  const key = (await scope?.key())?.() ?? '';
  const now = terminal.io.clock.now;
  return {
    cache: new FileCache({ baseUrl, key, dir: folders.cache, now }),
    book: new PeopleBook({ baseUrl, key, dir: folders.state }),
  };
}

/** Asks about people separately, because each of their answers was paid for. */
async function askToForget(book: PeopleBook | undefined, { io, signal }: Terminal): Promise<void> {
  const { people, wallets } = book?.stats() ?? { people: undefined, wallets: 0 };
  const who =
    people === undefined
      ? 'the people of all keys'
      : `${countText(people, 'person', 'people')} with ${countText(wallets, 'wallet')}`;
  const alone = {
    message: 'not running interactively; nothing was removed',
    hint: 'pass --yes to forget people without asking',
  };
  const declined = { message: 'cancelled; nothing was removed' };
  await agree(io, `Forget ${who}? Their answers were paid for.`, signal, alone, declined);
}
