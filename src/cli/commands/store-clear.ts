import { Failure, usageError } from '../../base/failure.ts';
import { flag } from '../args/option.ts';
import { command } from '../command.ts';
import { confirm } from '../spend/ask-yes-no.ts';

export const storeClear = command({
  path: 'store clear',
  summary: 'Remove cached answers, a feed or everything of this key from the store',
  about: [
    'Asks for confirmation. "cache" removes the shared answers, which have to be paid for when they are requested again; "feed NAME" removes a feed with its posts and groups; "all" removes everything of this base URL and key, including budgets.',
  ],
  args: [
    { name: 'what', help: 'cache, feed or all', choices: ['cache', 'feed', 'all'] },
    { name: 'feed', help: 'name of the feed, as in "trdr store status"', optional: true },
  ],
  options: { yes: flag('-y, --yes', 'remove without asking') },
  common: [],
  examples: [
    { run: 'trdr store clear cache', does: 'remove the shared answers' },
    { run: 'trdr store clear feed thesis --yes', does: 'start a feed over' },
  ],
  calls: [],
  exits: [0, 2, 4, 9, 11, 130],
  parse([what = '', feed], given) {
    if (!['cache', 'feed', 'all'].includes(what)) {
      throw usageError(`invalid value "${what}"`, 'choose from cache, feed, all');
    }
    if (what === 'feed' && feed === undefined)
      throw usageError(
        '"trdr store clear feed" requires the argument NAME',
        'write it as: trdr store clear feed NAME',
      );
    if (what !== 'feed' && feed !== undefined)
      throw usageError(
        'too many arguments: only "feed" takes a name',
        `write it as: trdr store clear ${what}`,
      );
    return { ...given, what, feed };
  },
  async run(context, { what, feed, yes }) {
    const { needStore } = await import('../store/need-store.ts');
    const { findKeys, removeKeys } = await import('../../store/clear.ts');
    const { keys, link, address } = await needStore(context);
    const found = await link.use((store) => findKeys(store, keys, what, feed));
    if (found.length === 0) {
      context.notice(
        what === 'feed' ? `no feed "${feed}" in the store; nothing to remove` : 'nothing to remove',
      );
      return 0;
    }
    const names: Readonly<Record<string, string>> = {
      cache: 'cached answers',
      feed: `feed ${feed}`,
      all: 'everything of this API key',
    };
    const text = `Remove ${names[what]} (${found.length} Redis keys) from ${address.shown}?`;
    const answer = yes || (await confirm(context.io, text, context.signal));
    if (!answer) {
      throw new Failure(
        'confirm',
        answer === undefined
          ? 'not running interactively; nothing was removed'
          : 'cancelled; nothing was removed',
        {
          code: answer === undefined ? 'CONFIRMATION_NEEDED' : 'NOT_CONFIRMED',
          hint: answer === undefined ? 'pass --yes to remove without asking' : undefined,
        },
      );
    }
    await link.use((store) => removeKeys(store, keys, found, what === 'feed' ? feed : undefined));
    context.notice(`Removed ${names[what]} (${found.length} Redis keys)`);
    return 0;
  },
});
