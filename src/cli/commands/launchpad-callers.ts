import * as z from 'zod/mini';
import { integer } from '../../base/amounts.ts';
import { usageError } from '../../base/failure.ts';
import { oneOf } from '../../base/values.ts';
import { BOARD_SIZE, CALLOUT_PAGE } from '../../contract/limits.ts';
import { CallerCallout, CallerRecord } from '../../contract/records/caller.ts';
import { boardPeriods } from '../../contract/records/launchpad.ts';
import { subjectSource } from '../../input/subject-list.ts';
import { cacheOptions, subjectArgument, subjectOptions } from '../args/common.ts';
import { flag, value, valueOr } from '../args/option.ts';
import { command } from '../command.ts';
import { callersJob } from '../lists/callers-job.ts';
import { runJob } from '../run/job.ts';
import page from './launchpad-callers.md';

const TOP = 20;

export const launchpadCallers = command({
  path: 'launchpad callers',
  page,
  args: [subjectArgument('caller', 'wallet, handle or user id')],
  options: {
    board: value('--board', 'the best of the leaderboard of this period', oneOf(...boardPeriods)),
    top: value(
      '--top',
      'with --board: the first N entries',
      integer({ min: 1, max: BOARD_SIZE }),
      `${TOP}`,
    ),
    limit: valueOr(
      '--limit',
      'callouts of each wallet, 25 for 10 CU',
      integer({ min: 1 }),
      CALLOUT_PAGE,
      `${CALLOUT_PAGE}`,
    ),
    calls: flag('--calls', 'print a record per callout'),
    ...subjectOptions,
    ...cacheOptions('10m; wallets of handles 1h'),
  },
  common: ['output', 'service', 'money'],
  calls: ['launchpad.board', 'launchpad.callouts.wallet', 'user.handle', 'user.id'],
  record: () => z.union([CallerRecord, CallerCallout]),
  exits: [3, 10],
  parse(words, { top, ...flags }) {
    const { board, file } = flags;
    if (board === undefined && top !== undefined)
      throw usageError('--top requires --board', 'add --board weekly, or name the callers');
    if (board !== undefined && (words.length > 0 || file !== undefined))
      throw usageError('--board cannot be combined with callers', 'omit one of them');
    return {
      ...flags,
      top: top ?? TOP,
      source: board === undefined ? subjectSource(words, flags, 'caller') : undefined,
    };
  },
  async run(context, flags) {
    return await runJob(await callersJob(context, flags), context);
  },
});
