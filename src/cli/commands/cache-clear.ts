import { usageError } from '../../base/failure.ts';
import { openCache } from '../../state/cache.ts';
import { flag } from '../args/option.ts';
import { command } from '../command.ts';

export const cacheClear = command({
  path: 'cache clear',
  summary: 'Forget the answers kept for the key in use',
  about: ['What is forgotten has to be paid for again when it is asked again.'],
  args: [],
  options: { all: flag('--all', 'the answers of every base URL and key') },
  common: [],
  examples: [
    { run: 'trdr cache clear', does: 'for the key in use' },
    { run: 'trdr cache clear --all', does: 'whoever gave them' },
  ],
  calls: [],
  exits: [0, 2, 9],
  parse: (_, given) => given,
  async run({ scope, settings, io, notice }, { all }) {
    if (scope === undefined && !all) {
      throw usageError(
        'no base URL and key are set: no answers are kept for them',
        'clear them all with --all',
      );
    }
    const { baseUrl, key } = scope ?? { baseUrl: '', key: '' };
    openCache({ baseUrl, key, dir: settings.folders.cache, now: io.clock.now }).clear(all);
    notice(all ? 'all kept answers are forgotten' : 'the answers kept for this key are forgotten');
    return 0;
  },
});
