import { integer } from '../../base/amounts.ts';
import { usageError } from '../../base/failure.ts';
import { time } from '../../base/times.ts';
import { oneOf } from '../../base/values.ts';
import { boardPeriods } from '../../contract/records/launchpad.ts';
import { BoardRecord } from '../../contract/records/tool.ts';
import { changeOptions, checkCompare } from '../args/compare-flags.ts';
import { flag, value, valueOr } from '../args/option.ts';
import { file, text } from '../args/values.ts';
import { command } from '../command.ts';
import { boardJob } from '../lists/board-job.ts';
import { runJob } from '../run/job.ts';
import page from './launchpad-board.md';

export const launchpadBoard = command({
  path: 'launchpad board',
  page,
  options: {
    period: valueOr('--period', 'period of the leaderboard', oneOf(...boardPeriods), 'weekly'),
    at: value('--at', 'show the latest snapshot at or before this time', time, 'now'),
    compare: value('--compare', 'show what changed since this time', time),
    limit: value('--top, --limit', 'show the first N entries', integer({ min: 1 })),
    wallets: value('--wallets', 'show only the wallets in FILE (- for stdin)', file),
    column: value('--column', 'the column or field of --wallets with the wallets', text('name')),
    ...changeOptions,
    who: flag('--who', 'add who is behind each wallet (at most 410 CU a wallet)'),
  },
  common: ['output', 'service', 'money'],
  calls: ['launchpad.board', 'launchpad.user', 'user.id', 'user.handle'],
  record: () => BoardRecord,
  exits: [3],
  parse(_, flags) {
    checkCompare(flags, '--compare 1d');
    if (flags.column !== undefined && flags.wallets === undefined)
      throw usageError('--column requires --wallets', 'add --wallets FILE');
    return flags;
  },
  async run(context, board) {
    return await runJob(await boardJob(context, board), context);
  },
});
