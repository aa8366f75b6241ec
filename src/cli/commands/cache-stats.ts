import { CacheRecord } from '../../contract/records/tool.ts';
import { cacheView } from '../../output/views/books.ts';
import { openCache } from '../../state/cache.ts';
import { command } from '../command.ts';

export const cacheStats = command({
  path: 'cache stats',
  summary: 'What is kept of earlier answers',
  about: [
    'Answers are kept for the base URL and key that gave them. Nothing but a 200 and a NOT_OBSERVED is ever kept, and how old an answer may be is for each command to say.',
  ],
  args: [],
  options: {},
  common: ['output'],
  examples: [{ run: 'trdr cache stats', does: 'for the key in use' }],
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
