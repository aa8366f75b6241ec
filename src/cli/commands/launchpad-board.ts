import { integer } from '../../base/amounts.ts';
import { time } from '../../base/times.ts';
import { oneOf } from '../../base/values.ts';
import { boardPeriods } from '../../contract/records/launchpad.ts';
import { BoardRecord } from '../../contract/records/tool.ts';
import { changeOptions, checkCompare } from '../args/list-flags.ts';
import { value, valueOr } from '../args/option.ts';
import { command } from '../command.ts';
import { boardJob } from '../lists/board-job.ts';
import { runJob } from '../run/job.ts';

export const launchpadBoard = command({
  path: 'launchpad board',
  summary: 'Show the top 100 launchpad traders by PnL',
  about: [
    'Shows the latest snapshot, ranked by realized plus unrealized PnL; with --at, the latest snapshot at or before that time. On a terminal, the time of the snapshot is printed to stderr.',
    'With --compare, each entry also has its rank in an earlier snapshot and what changed since then. An age such as 7d, or yesterday (24 hours), counts back from --at, or from now; all other times are absolute, as for --at. Traders who are no longer on the leaderboard follow at the end, without rank and figures. On a terminal, a summary of the changes is printed to stderr.',
    '--top prints only the first N entries. With --compare, it also prints the traders who are no longer on the leaderboard if their earlier rank was N or better.',
  ],
  options: {
    period: valueOr('--period', 'period of the leaderboard', oneOf(...boardPeriods), 'weekly'),
    at: value('--at', 'show the latest snapshot at or before this time', time, 'now'),
    compare: value('--compare', 'show what changed since this time', time),
    limit: value('--top, --limit', 'show the first N entries', integer({ min: 1 })),
    ...changeOptions,
  },
  common: ['output', 'service', 'money'],
  examples: {
    'trdr launchpad board --period daily': 'show the leaderboard of today',
    'trdr launchpad board --compare 7d': 'show what changed during the last week',
    'trdr launchpad board --top 20 --compare 1d --changed':
      'show what changed among the first 20 since yesterday',
    'trdr launchpad board --compare 1d -o ndjson | jq -r \'select(.change == "new").wallet\'':
      'list the wallets that are new on the leaderboard',
  },
  calls: ['launchpad.board'],
  record: () => BoardRecord,
  exits: [0, 2, 4, 5, 6, 7, 9, 11],
  parse(_, given) {
    checkCompare(given, '--compare 1d');
    return given;
  },
  async run(context, board) {
    return await runJob(boardJob(context, board), context);
  },
});
