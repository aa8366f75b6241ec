import { integer } from '../../base/amounts.ts';
import { usageError } from '../../base/failure.ts';
import { type Instant, instantAt, time } from '../../base/times.ts';
import { oneOf } from '../../base/values.ts';
import { numberOf, type Sent } from '../../contract/read-record.ts';
import { boardPeriods } from '../../contract/records/launchpad.ts';
import { BoardRecord } from '../../contract/records/tool.ts';
import { boardEntries, compareBoards } from '../../core/boards.ts';
import { isWanted, movesText } from '../../output/terminal/moves-text.ts';
import { boardView } from '../../output/views/launchpad.ts';
import { changeOptions, checkCompare } from '../args/list-flags.ts';
import { value, valueOr } from '../args/option.ts';
import { command } from '../command.ts';
import { serviceClock } from '../lookup/service-time.ts';
import { isDryRun } from '../run/dry-run.ts';

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
  async run(context, { period, at, compare, limit: shown, changed, only }) {
    const { utc } = context.settings;
    const view = boardView(compare !== undefined);
    if (await isDryRun(context, callsAt(context.terminal.io.clock.now()), view)) return;
    const isTimed = at !== undefined || compare !== undefined;
    const clock = isTimed ? await serviceClock(context) : context.terminal.io.clock;
    const asks = callsAt(clock.now()).map(({ ask }) => ask);
    const client = await context.service.client();
    const most = asks.reduce((sum, ask) => sum + client.bounds('launchpad.board', ask).most, 0);
    await context.service.permission.approve(
      { least: most, most },
      (cost) => `This will cost ${cost}`,
    );
    await context.out.emit(view, false, async (out) => {
      const boards: Sent[] = [];
      try {
        for (const ask of asks) {
          boards.push(
            (await client.call('launchpad.board', ask, { signal: context.terminal.signal })).record,
          );
        }
      } catch (error) {
        const [paid] = boards;
        if (paid === undefined) throw error;
        context.terminal.notice(
          'cannot read the earlier snapshot; the entries are shown without a comparison',
        );
        for (const row of boardEntries(paid)) if (isWithin(row, shown)) await out.write(row);
        throw error;
      }
      const [board, before] = boards;
      if (board === undefined) return;
      // Do not compare with a missing snapshot, because every trader would look new.
      const comparable = before !== undefined && isOnRecord(before);
      // Report results that need no action only on a terminal, so that mails from cron do not contain them.
      const isWatched = context.terminal.io.stderr.isTTY === true;
      if (!isOnRecord(board))
        context.terminal.notice(
          `no ${period} board on record${at === undefined ? '' : ' at or before the time of --at'}`,
        );
      else if (isWatched) context.terminal.notice(captured(`${period} board`, board));
      if (before !== undefined && (isWatched || !comparable))
        context.terminal.notice(comparison(board, before));
      const compared = comparable ? compareBoards(board, before) : boardEntries(board);
      const within = compared.filter((row) => isWithin(row, shown));
      if (comparable && isWatched) context.terminal.notice(summaryText(within));
      for (const row of within)
        if (!comparable || isWanted(row['change'], changed, only)) await out.write(row);
    });

    function callsAt(now: number) {
      const shownAt = at === undefined ? now : instantAt(at, now, utc);
      const comparedAt = compare && comparedTime(compare, shownAt, now, utc);
      if (comparedAt !== undefined && comparedAt >= shownAt) {
        throw at === undefined
          ? usageError(
              '--compare must be in the past',
              'pass an earlier time, for example --compare 1d',
            )
          : usageError(
              'the time of --compare must be earlier than the time of --at',
              'pass an earlier time to --compare',
            );
      }
      const times = [at && shownAt, ...(comparedAt === undefined ? [] : [comparedAt])];
      return times.map((time) => ({
        id: 'launchpad.board' as const,
        ask: { query: { period, ...(time !== undefined && { at: String(time) }) } },
      }));
    }
  },
});

const DAY_MS = 86_400_000;

/** A relative time counts back from the board that is shown; so does yesterday, which could begin two days before. */
function comparedTime(compare: Instant, shownAt: number, now: number, utc: boolean): number {
  if ('day' in compare && compare.day === -1) return shownAt - DAY_MS;
  return instantAt(compare, 'ageMs' in compare ? shownAt : now, utc);
}

/** Whether the rank of a row is at most `top`. For a trader who left the board, the former rank counts. */
function isWithin(row: Sent, top: number | undefined): boolean {
  if (top === undefined) return true;
  const rank = numberOf(row['rank']) ?? numberOf(row['previousRank']);
  return rank === undefined || rank <= top;
}

const summaryText = (rows: readonly Sent[]): string =>
  movesText(
    rows.map(({ change, rankChange, username, wallet }) => ({
      kind: change,
      amount: numberOf(rankChange),
      name: String(username ?? wallet ?? 'unknown'),
    })),
    { up: 'biggest climb', down: 'biggest fall' },
    (places) => (places > 0 ? `+${places}` : `\u2212${-places}`),
  );

/** For a time without a snapshot, the service returns an empty board without a time. */
const isOnRecord = (board: Sent) => board['capturedAt'] !== null || boardEntries(board).length > 0;

function captured(what: string, board: Sent): string {
  const time = dateText(board['capturedAt']);
  return time === undefined ? `${what} of an unknown time` : `${what} of ${time}`;
}

function dateText(value: unknown): string | undefined {
  const date = new Date(numberOf(value) ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().replace(/:\d\d\.\d+Z$/, 'Z');
}

function comparison(board: Sent, before: Sent): string {
  if (!isOnRecord(before))
    return 'no snapshot on record at or before the time of --compare; changes are not shown';
  const time = numberOf(before['capturedAt']);
  const same = time !== undefined && time === board['capturedAt'];
  return `${captured('compared with the snapshot', before)}${same ? ', which is also the snapshot shown, so nothing changed' : ''}`;
}
