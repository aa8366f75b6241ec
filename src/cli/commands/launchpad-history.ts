import * as z from 'zod/mini';
import { integer } from '../../base/amounts.ts';
import { positiveDuration } from '../../base/durations.ts';
import { usageError } from '../../base/failure.ts';
import { time } from '../../base/times.ts';
import { oneOf } from '../../base/values.ts';
import { boardPeriods } from '../../contract/records/launchpad.ts';
import { HistoryRecord, TraderHistoryRecord } from '../../contract/records/tool.ts';
import { flag, value, valueOr } from '../args/option.ts';
import { command } from '../command.ts';
import { runHistory } from '../lists/history-job.ts';
import page from './launchpad-history.md';

const DAY_MS = 86_400_000;

export const launchpadHistory = command({
  path: 'launchpad history',
  page,
  args: [
    {
      name: 'trader',
      help: 'name on the leaderboard or wallet; default: all traders',
      variadic: true,
      optional: true,
    },
  ],
  options: {
    period: valueOr('--period', 'period of the leaderboard', oneOf(...boardPeriods), 'weekly'),
    since: value('--since', 'only snapshots after this time (required)', time),
    until: value('--until', 'only snapshots up to this time', time, 'now'),
    every: valueOr('--every', 'time between two snapshots', positiveDuration, DAY_MS, '1d'),
    summary: flag('--summary', 'print a record per trader, as tables do, in every format'),
    limit: value(
      '--top, --limit',
      'only the first N traders of the last snapshot',
      integer({ min: 1 }),
    ),
    resume: flag('--resume', 'with --out: resume an interrupted export, keep a finished one'),
    fresh: flag('--fresh', 'with --out: start over, and replace FILE without asking'),
  },
  common: ['output', 'service', 'money'],
  calls: ['launchpad.board', 'me'],
  record: () => z.union([HistoryRecord, TraderHistoryRecord]),
  exits: [3],
  parse(names, { since, ...flags }) {
    if (since === undefined)
      throw usageError(
        '--since is required',
        'say where the history begins, such as --since 30d or --since 2026-01-01',
      );
    return { ...flags, since, names };
  },
  async run(context, history) {
    return await runHistory(context, history);
  },
});
