import { CacheRecord } from '../../contract/records/tool.ts';
import { cacheView } from '../../output/views/books.ts';
import { openCache } from '../../state/cache.ts';
import { command } from '../command.ts';

export const cacheStats = command({
  path: 'cache stats',
  summary: 'Show cache statistics',
  about: [
    'Answers are cached per base URL and key. Only successful answers and the answer "not found" (NOT_OBSERVED) are cached. The maximum age of a cached answer depends on the command (--max-age).',
  ],
  args: [],
  options: {},
  common: ['output'],
  examples: [{ run: 'trdr cache stats', does: 'show the statistics for the current key' }],
  calls: [],
  record: () => CacheRecord,
  exits: [0, 2, 9],
  parse: () => undefined,
  async run(context) {
    const { scope, settings, io } = context;
    const none = { entries: 0, found: 0, missing: 0, bytes: 0, oldest: null, newest: null, path: undefined };
    const dir = settings.folders.cache;
    const { path, ...stats } = scope ? openCache({ ...scope, dir, now: io.clock.now }).stats() : none;
    await context.printOne(cacheView, { ...stats, path: path ?? dir ?? null });
    return 0;
  },
});
