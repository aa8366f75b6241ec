import { addTo } from '../base/add-to.ts';
import { isRecord, textOf } from '../base/json-object.ts';
import { normalHandle } from '../contract/handles.ts';
import { numberOf, postTimeOf, type Sent } from '../contract/read-record.ts';
import type { TraderHistoryRecord } from '../contract/records/tool.ts';
import { boardEntries, isOnRecord, walletKey } from './boards.ts';

/**
 * The times of a history: `until`, and back from there in steps of `every`, as long as they are
 * after `since`.
 */
export interface BoardTimes {
  readonly since: number;
  readonly until: number;
  readonly every: number;
}

/**
 * The snapshots that were read, by the position of their time, oldest first; null where the service
 * has none.
 */
export type Snapshots = ReadonlyMap<number, Sent | null>;

export interface SnapshotTime {
  readonly position: number;
  readonly at: number;
}

/** What an export keeps of a time: its snapshot, or null, and the stretch that it belongs to. */
export interface Snapshot {
  readonly since: number;
  readonly until: number;
  readonly board: Sent | null;
}

/** Undefined for a value that is not a snapshot of an export. */
export function readSnapshot(value: unknown): Snapshot | undefined {
  const { since, until, board } = isRecord(value) ? value : {};
  const [from, to] = [numberOf(since), numberOf(until)];
  if (from === undefined || to === undefined || !(isRecord(board) || board === null))
    return undefined;
  return { since: from, until: to, board };
}

export const countTimes = ({ since, until, every }: BoardTimes): number =>
  Math.ceil((until - since) / every);

/**
 * The times to be read, newest first, because a snapshot answers for all times back to its own:
 * those times are skipped and cost nothing. `read` may grow while the times are read. Without a
 * snapshot, there is none at an earlier time.
 */
export function* timesToRead(stretch: BoardTimes, read: Snapshots): Generator<SnapshotTime> {
  const count = countTimes(stretch);
  let answeredFrom = Number.POSITIVE_INFINITY;
  for (let position = count - 1; position >= 0; position--) {
    const at = stretch.until - (count - 1 - position) * stretch.every;
    if (at >= answeredFrom) continue;
    if (!read.has(position)) yield { position, at };
    const board = read.get(position);
    if (!board) continue;
    if (!isOnRecord(board)) return;
    answeredFrom = Math.min(answeredFrom, postTimeOf(board['capturedAt']) ?? answeredFrom);
  }
}

/** The snapshots in the order of time, each once. */
export function distinctBoards(read: Snapshots): Sent[] {
  const boards: Sent[] = [];
  const seen = new Set<unknown>();
  for (const [, board] of [...read].toSorted(([one], [other]) => one - other)) {
    if (!board || !isOnRecord(board)) continue;
    const { capturedAt } = board;
    if (seen.has(capturedAt)) continue;
    // Without a time, nothing shows that a snapshot is one of the others.
    if (typeof capturedAt === 'number' || typeof capturedAt === 'string') seen.add(capturedAt);
    boards.push(board);
  }
  return boards;
}

/** The wallets of names, and the names that no snapshot has. */
export interface NamedTraders {
  readonly wallets: ReadonlySet<string>;
  readonly unknown: readonly string[];
}

/**
 * Finds the traders that names and wallets stand for. A name stands for who had it last, because
 * names can pass to others, and their wallet finds them in the snapshots before a rename, too.
 */
export function tradersNamed(names: readonly string[], boards: readonly Sent[]): NamedTraders {
  const holders = new Map<string, string[]>();
  for (const board of boards) {
    const now = new Map<string, string[]>();
    for (const entry of boardEntries(board)) {
      const wallet = walletKey(entry);
      if (wallet === undefined) continue;
      for (const name of [textOf(entry['username']), wallet]) {
        if (name) addTo(now, normalHandle(name), wallet);
      }
    }
    for (const [name, wallets] of now) holders.set(name, wallets);
  }
  return {
    wallets: new Set(names.flatMap((name) => holders.get(normalHandle(name)) ?? [])),
    unknown: names.filter((name) => !holders.has(normalHandle(name))),
  };
}

/**
 * A trader in a history. The lists have an item per snapshot: null where the trader is not on the
 * board.
 */
export interface TraderHistory {
  readonly wallet: string;
  username: unknown;
  readonly ranks: (number | null)[];
  readonly pnls: (number | null)[];
  /** The number of snapshots with the trader. */
  stood: number;
}

/** A line per trader, in the order of the last ranks; who has left comes after them. */
export function tradersIn(
  boards: readonly Sent[],
  wallets: ReadonlySet<string> | undefined,
): TraderHistory[] {
  const traders = new Map<string, TraderHistory>();
  const absent = () => boards.map(() => null);
  for (const [at, board] of boards.entries()) {
    const onBoard = new Set<string>();
    for (const entry of boardEntries(board)) {
      const key = walletKey(entry);
      if (key === undefined || wallets?.has(key) === false) continue;
      // The first of two entries of a wallet has the better rank.
      if (onBoard.has(key)) continue;
      onBoard.add(key);
      const trader = traders.get(key) ?? {
        wallet: textOf(entry['wallet']) ?? key,
        username: null,
        ranks: absent(),
        pnls: absent(),
        stood: 0,
      };
      traders.set(key, trader);
      trader.username = entry['username'] ?? trader.username;
      trader.ranks[at] = numberOf(entry['rank']) ?? null;
      trader.pnls[at] = numberOf(entry['pnlUsd']) ?? null;
      trader.stood++;
    }
  }
  // The difference of two infinite ranks would be no number.
  const lastRank = ({ ranks }: TraderHistory) => ranks.at(-1) ?? Number.MAX_SAFE_INTEGER;
  return [...traders.values()].toSorted(
    (one, other) => lastRank(one) - lastRank(other) || other.stood - one.stood,
  );
}

/** The same in figures, for programs. */
export function traderRecord(
  { wallet, username, ranks, pnls, stood }: TraderHistory,
  boards: readonly Sent[],
): TraderHistoryRecord {
  const stated = pnls.filter((pnl) => pnl !== null);
  const [first, last] = [boards[0], boards.at(-1)];
  return {
    wallet,
    username: textOf(username) ?? null,
    period: textOf(last?.['period']) ?? null,
    from: postTimeOf(first?.['capturedAt']),
    to: postTimeOf(last?.['capturedAt']),
    snapshots: boards.length,
    stood,
    rankFirst: ranks[0] ?? null,
    rankLast: ranks.at(-1) ?? null,
    rankBest: leastOf(ranks.filter((rank) => rank !== null)),
    pnlUsdFirst: pnls[0] ?? null,
    pnlUsdLast: pnls.at(-1) ?? null,
    pnlUsdLow: leastOf(stated),
    pnlUsdHigh: stated.length === 0 ? null : Math.max(...stated),
  };
}

const leastOf = (numbers: readonly number[]): number | null =>
  numbers.length === 0 ? null : Math.min(...numbers);

/** The rows of the snapshots, with the wallets that are wanted. */
export function* rowsIn(
  boards: readonly Sent[],
  wallets: ReadonlySet<string> | undefined,
): Generator<Sent, void, void> {
  for (const board of boards)
    for (const entry of boardEntries(board))
      if (wallets === undefined || wallets.has(walletKey(entry) ?? '')) yield entry;
}
