import { numberOf, type Sent } from '../../contract/known.ts';
import { boardPeriods } from '../../contract/records/launchpad.ts';
import { BoardRecord } from '../../contract/records/tool.ts';
import { compareBoards, entriesOf } from '../../core/boards.ts';
import { boardView } from '../../output/views/board.ts';
import { value, valueOr } from '../args/option.ts';
import { instantAt, oneOf, time } from '../args/values.ts';
import { command } from '../command.ts';

export const launchpadBoard = command({
  path: 'launchpad board',
  summary: 'Show the top 100 launchpad traders by PnL',
  about: [
    'Shows the latest snapshot, or with --at the latest one at or before that time, ranked by realized plus unrealized PnL. On a terminal, the capture time is printed to stderr.',
    'With --compare, each entry also has its rank in an earlier snapshot and what changed since. Traders who left the leaderboard follow, without rank and figures.',
  ],
  args: [],
  options: {
    period: valueOr('--period', 'period of the leaderboard', oneOf(...boardPeriods), 'weekly'),
    at: value('--at', 'show the latest snapshot at or before this time', time, 'now'),
    compare: value('--compare', 'show what changed since this time', time),
  },
  common: ['output', 'service', 'money'],
  examples: [
    { run: 'trdr launchpad board --period daily', does: 'the leaderboard of today' },
    {
      run: 'trdr launchpad board --compare 7d',
      does: 'climbers, fallers, newcomers and leavers of the week',
    },
    {
      run: 'trdr launchpad board --compare 1d -o ndjson | jq -r \'select(.change == "new").wallet\'',
      does: 'wallets that are new on the leaderboard',
    },
  ],
  calls: ['launchpad.board'],
  record: () => BoardRecord,
  exits: [0, 2, 4, 5, 6, 7, 9, 11],
  parse: (_, given) => given,
  async run(context, { period, at, compare }) {
    const now = context.io.clock.now();
    const asks = [at, ...(compare === undefined ? [] : [compare])].map((when) => ({
      query: {
        period,
        ...(when !== undefined && { at: String(instantAt(when, now, context.settings.utc)) }),
      },
    }));
    if (await context.dryRun(asks.map((ask) => ({ id: 'launchpad.board', ask })))) return 0;
    const client = await context.client();
    const most = asks.reduce((sum, ask) => sum + client.bounds('launchpad.board', ask).most, 0);
    await context.approve({ least: most, most }, 'this');
    const rows: Sent[] = [];
    await context.emit(boardView(rows, compare !== undefined), false, async (out) => {
      const boards: Sent[] = [];
      for (const ask of asks) {
        boards.push((await client.call('launchpad.board', ask, { signal: context.signal })).record);
      }
      const [board, before] = boards;
      if (board === undefined) return;
      // A board that was never captured would make newcomers of everybody.
      const comparable = before !== undefined && isHeld(before);
      // What is no surprise is for whoever watches, not for the mail that cron sends.
      const isWatched = context.io.stderr.isTTY === true;
      if (isWatched || !isHeld(board)) context.notice(captured(`${period} board`, board));
      if (before !== undefined && (isWatched || !comparable)) context.notice(comparison(board, before));
      rows.push(...(comparable ? compareBoards(board, before) : entriesOf(board)));
      for (const row of rows) await out.write(row);
    });
    return 0;
  },
});

/** Whether there is a snapshot: one that was never captured is empty and has no time. */
const isHeld = (board: Sent) => board['capturedAt'] !== null || entriesOf(board).length > 0;

function captured(what: string, board: Sent): string {
  if (!isHeld(board)) return `no ${what} on record for that time`;
  const time = dateText(board['capturedAt']);
  return time === undefined ? `${what} of an unknown time` : `${what} of ${time}`;
}

function dateText(value: unknown): string | undefined {
  const date = new Date(numberOf(value) ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().replace(/:\d\d\.\d+Z$/, 'Z');
}

function comparison(board: Sent, before: Sent): string {
  if (!isHeld(before)) return 'no board on record for the time to compare with: ranks stand alone';
  const time = numberOf(before['capturedAt']);
  const same = time !== undefined && time === board['capturedAt'];
  return `${captured('compared with that', before)}${same ? ': the same snapshot, nothing can have changed' : ''}`;
}
