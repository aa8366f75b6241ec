import { usageError } from '../../base/failure.ts';
import { CacheRecord } from '../../contract/records/tool.ts';
import { cacheView } from '../../output/views/usage.ts';
import { openCache } from '../../state/cache.ts';
import { flag } from '../args/option.ts';
import { command } from '../command.ts';
import cacheClearPage from './cache-clear.md';
import cacheStatsPage from './cache-stats.md';

export const cacheStats = command({
  path: 'cache stats',
  page: cacheStatsPage,
  common: ['output'],
  record: () => CacheRecord,
  exits: [0, 2, 9],
  async run(context) {
    const { io } = context.terminal;
    const { settings } = context;
    const none = {
      entries: 0,
      found: 0,
      missing: 0,
      bytes: 0,
      oldest: null,
      newest: null,
      path: undefined,
    };
    const dir = settings.folders.cache;
    const { path, ...stats } = context.service.scope
      ? openCache({
          baseUrl: context.service.scope.baseUrl,
          key: await context.service.scope.key(),
          dir,
          now: io.clock.now,
        }).stats()
      : none;
    await context.out.print(cacheView, [{ ...stats, path: path ?? dir ?? null }], {
      isSingle: true,
    });
  },
});

export const cacheClear = command({
  path: 'cache clear',
  page: cacheClearPage,
  options: { all: flag('--all', 'clear the cache for all keys and base URLs') },
  exits: [0, 2, 9],
  async run({ service, settings, terminal }, { all }) {
    if (service.scope === undefined && !all) {
      throw usageError(
        'no base URL or no key configured; cannot tell which cache to clear',
        'use --all to clear everything',
      );
    }
    const baseUrl = service.scope?.baseUrl ?? '';
    const key = (!all && (await service.scope?.key())) || '';
    openCache({ baseUrl, key, dir: settings.folders.cache, now: terminal.io.clock.now }).clear(all);
    terminal.notice(all ? 'Cleared the cache for all keys' : 'Cleared the cache for this key');
  },
});
