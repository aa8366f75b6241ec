import { Failure, usageError } from '../../base/failure.ts';
import { type Instant, instantAt } from '../../base/times.ts';
import { countText } from '../../base/units.ts';
import { known, numberOf, type Sent } from '../../contract/read-record.ts';
import type { BoardPeriod } from '../../contract/records/launchpad.ts';
import { User } from '../../contract/records/user.ts';
import {
  type BoardCall,
  boardCall,
  boardEntries,
  compareBoards,
  isOnRecord,
  walletKey,
} from '../../core/boards.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import { normalToken } from '../../core/pages/filter.ts';
import { subjectSource } from '../../input/subject-list.ts';
import { momentOf, span } from '../../output/format/time.ts';
import { namesText } from '../../output/notices.ts';
import { isWanted, movesText } from '../../output/terminal/moves-text.ts';
import { boardView } from '../../output/views/launchpad.ts';
import { distinctSubjects } from '../args/subjects.ts';
import { openCachedLookup } from '../lookup/open-lookup.ts';
import { serviceClock } from '../lookup/service-time.ts';
import type { Context } from '../run/context.ts';
import { type CommandJob, RowTally } from '../run/job.ts';
import { openBoardTraders, traderCalls } from './board-traders.ts';

interface BoardFlags {
  readonly period: BoardPeriod;
  readonly at: Instant | undefined;
  readonly compare: Instant | undefined;
  readonly limit: number | undefined;
  readonly changed: boolean;
  readonly only: readonly string[];
  readonly who: boolean;
  readonly wallets: string | undefined;
  readonly column: string | undefined;
}

/** The leaderboard, compared with an earlier snapshot if --compare asks for it. */
export async function boardJob(context: Context, flags: BoardFlags): Promise<CommandJob> {
  const { terminal, settings } = context;
  const wanted = await wantedWallets(context, flags);
  const isSelection = flags.changed || flags.only.length > 0;
  const view = boardView(flags.compare !== undefined, flags.who, isSelection);
  const traders = flags.who ? await openBoardTraders(context) : undefined;
  const tally = new RowTally('entry', 'entries');
  const isTimed = flags.at !== undefined || flags.compare !== undefined;
  return {
    plan: {
      // The price is the same for all times, so the clock of this machine suffices for the plan.
      calls: [
        ...boardCalls(flags, terminal.io.clock.now(), settings.utc),
        ...(traders
          ? traderCalls(Math.min(mostRows(flags), wanted?.size ?? Number.POSITIVE_INFINITY))
          : []),
      ],
      costs: (cost) => `This will cost ${cost}`,
    },
    view,
    tally,
    async print(out) {
      const clock = isTimed ? await serviceClock(context) : terminal.io.clock;
      const calls = boardCalls(flags, clock.now(), settings.utc);
      const rows = boardRows(context, flags, wanted, calls);
      await out.print(view, tally.counting(traders ? traders.naming(rows) : rows));
    },
  };
}

/** The wallets of --wallets, by the form in which they are compared; undefined without it. */
async function wantedWallets(context: Context, flags: BoardFlags): Promise<WantedWallets> {
  const { terminal, settings } = context;
  const { wallets: file, column } = flags;
  if (file === undefined) return undefined;
  const source = subjectSource([], { file, column }, 'wallet');
  const subjects = await distinctSubjects(source, terminal, await settings.key.get(), undefined);
  const names = subjects.filter(({ type }) => type !== 'wallet');
  const saved = names.length > 0 ? await savedWallets(context, names) : undefined;
  // The wallets keep the order of the file.
  const wallets = subjects.flatMap(
    (subject) => (subject.type === 'wallet' ? subject.value : saved?.get(subject)) ?? [],
  );
  if (wallets.length === 0)
    throw usageError(`--wallets: ${file} has no wallets`, 'write one wallet per line');
  return new Map(wallets.map((wallet) => [normalToken(wallet), wallet]));
}

/** The Solana wallets of users, as lookups have found them: a leaderboard has no others. */
async function savedWallets(
  context: Context,
  names: readonly Subject[],
): Promise<ReadonlyMap<Subject, string | null | undefined>> {
  const { terminal, settings } = context;
  const users = await openCachedLookup(context, { maxAge: Number.POSITIVE_INFINITY });
  const answers = users.planAll(names).map(({ answer }) => answer);
  const wallets = answers.map((answer) =>
    answer?.found ? known(User, answer.record).solanaAddress : undefined,
  );
  const unknown = names.filter((_, at) => !wallets[at]);
  if (unknown.length > 0)
    throw usageError(
      `--wallets: the wallets of ${namesText(unknown.map(({ text }) => text))} are not known here`,
      'look them up once with "trdr whois", for 100 CU each, or write their wallets',
    );
  const oldest = Math.min(...answers.flatMap((answer) => (answer?.found ? answer.time : [])));
  const age = terminal.io.clock.now() - oldest;
  if (age >= settings.maxAge)
    terminal.notice(
      `--wallets: the wallets of names were read up to ${span(age)} ago; "trdr whois" reads them again`,
    );
  return new Map(names.map((name, at) => [name, wallets[at]]));
}

type WantedWallets = ReadonlyMap<string, string> | undefined;

/** Whether an entry is one of the wallets that are wanted. */
const isOneOf = (wanted: WantedWallets, entry: Sent): boolean =>
  wanted === undefined || wanted.has(walletKey(entry) ?? '');

/** A leaderboard has so many entries. */
const ENTRIES = 100;

/** A board may show twice as many rows with --compare: all earlier entries may have left since. */
const mostRows = ({ limit = ENTRIES, compare }: BoardFlags): number =>
  Math.min(limit, ENTRIES) * (compare === undefined ? 1 : 2);

/** The calls of the board that is shown and, with --compare, of an earlier one. */
function boardCalls(
  { period, at, compare }: BoardFlags,
  now: number,
  utc: boolean,
): readonly BoardCall[] {
  const shownAt = at === undefined ? now : instantAt(at, now, utc);
  const shown = boardCall(period, at === undefined ? undefined : shownAt);
  if (compare === undefined) return [shown];
  const comparedAt = comparedTime(compare, shownAt, now, utc);
  if (comparedAt < shownAt) return [shown, boardCall(period, comparedAt)];
  if (at === undefined)
    throw usageError(
      '--compare must be in the past',
      'pass an earlier time, for example --compare 1d',
    );
  throw usageError(
    'the time of --compare must be earlier than the time of --at',
    'pass an earlier time to --compare',
  );
}

/**
 * The entries. If the earlier snapshot cannot be read, those of the first, which was paid for, come
 * before the failure.
 */
async function* boardRows(
  { terminal, service }: Context,
  flags: BoardFlags,
  wanted: WantedWallets,
  calls: readonly BoardCall[],
): AsyncGenerator<Sent, void, void> {
  const read = async ({ id, ask }: BoardCall) => (await service.call(id, ask)).record;
  const [shownCall, earlierCall] = calls;
  if (shownCall === undefined) return;
  // What cannot be compared has no rows to select, so nothing is paid for before it can be.
  const isSelection = flags.changed || flags.only.length > 0;
  const earlier = isSelection && earlierCall ? await read(earlierCall) : undefined;
  if (earlier !== undefined && !isOnRecord(earlier)) throw notComparable();
  const board = await read(shownCall);
  let before = earlier;
  try {
    if (earlierCall && before === undefined) before = await read(earlierCall);
  } catch (error) {
    terminal.notice('cannot read the earlier snapshot; the entries are shown without a comparison');
    for (const row of boardEntries(board))
      if (isWithin(row, flags.limit) && isOneOf(wanted, row)) yield row;
    throw error;
  }
  yield* comparedRows({ terminal }, flags, wanted, board, before);
}

function* comparedRows(
  { terminal }: Pick<Context, 'terminal'>,
  { period, at, limit, changed, only }: BoardFlags,
  wanted: WantedWallets,
  board: Sent,
  before: Sent | undefined,
): Generator<Sent, void, void> {
  if (!isOnRecord(board)) {
    const when = at === undefined ? '' : ' at or before the time of --at';
    terminal.notice(`no ${period} board on record${when}`);
  } else terminal.tell(captured(`${period} board`, board));
  // Do not compare with a missing snapshot, because every trader would look new.
  const isComparable = before !== undefined && isOnRecord(before) && isOnRecord(board);
  if (!isComparable && (changed || only.length > 0)) throw notComparable();
  const say = isComparable ? terminal.tell : terminal.notice;
  if (before !== undefined) say(comparison(board, before));
  const entries = isComparable ? compareBoards(board, before) : boardEntries(board);
  const within = entries.filter((row) => isWithin(row, limit) && isOneOf(wanted, row));
  if (isComparable) terminal.tell(summaryText(within));
  if (isOnRecord(board) && wanted) noticeAbsent(terminal, wanted, boardEntries(board));
  for (const row of within) if (!isComparable || isWanted(row['change'], changed, only)) yield row;
}

function noticeAbsent(
  { notice }: Pick<Context['terminal'], 'notice'>,
  wanted: ReadonlyMap<string, string>,
  entries: readonly Sent[],
): void {
  const present = new Set(entries.map(walletKey));
  const absent = [...wanted].flatMap(([normal, wallet]) => (present.has(normal) ? [] : [wallet]));
  if (absent.length === 0) return;
  const many = `${absent.length} of ${countText(wanted.size, 'wallet')}`;
  notice(`not on the leaderboard, ${many}: ${namesText(absent)}`);
}

const notComparable = () =>
  new Failure('answer', 'no snapshot on record at or before the time of --compare', {
    code: 'NO_SNAPSHOT',
    hint: 'pass a later time to --compare, or omit --only and --changed to see the leaderboard',
  });

const DAY_MS = 86_400_000;

/**
 * A relative time counts back from the board that is shown; so does yesterday, which could begin
 * two days before.
 */
function comparedTime(compare: Instant, shownAt: number, now: number, utc: boolean): number {
  if ('day' in compare && compare.day === -1) return shownAt - DAY_MS;
  return instantAt(compare, 'ageMs' in compare ? shownAt : now, utc);
}

/**
 * Whether the rank of a row is at most `top`. For a trader who left the board, the former rank
 * counts.
 */
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

function captured(what: string, board: Sent): string {
  const time = dateText(board['capturedAt']);
  return time === undefined ? `${what} of an unknown time` : `${what} of ${time}`;
}

export function dateText(value: unknown): string | undefined {
  const moment = momentOf(value);
  return moment === undefined ? undefined : `${new Date(moment).toISOString().slice(0, 16)}Z`;
}

function comparison(board: Sent, before: Sent): string {
  if (!isOnRecord(before))
    return 'no snapshot on record at or before the time of --compare; changes are not shown';
  const time = momentOf(before['capturedAt']);
  const compared = captured('compared with the snapshot', before);
  if (time === undefined || time !== momentOf(board['capturedAt'])) return compared;
  return `${compared}, which is also the snapshot shown, so nothing changed`;
}
