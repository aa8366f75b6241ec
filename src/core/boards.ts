import { addTo } from '../base/add-to.ts';
import { copySources } from '../base/json.ts';
import { textOf } from '../base/json-object.ts';
import type { RequestParts } from '../contract/ports/client.ts';
import { numberOf, recordsOf, type Sent } from '../contract/read-record.ts';
import type { BoardPeriod } from '../contract/records/launchpad.ts';
import { normalToken } from './pages/filter.ts';

/** The call of a leaderboard: the present one, or that of a time. */
export const boardCall = (period: BoardPeriod, at?: number): BoardCall => ({
  id: 'launchpad.board',
  ask: { query: at === undefined ? { period } : { period, at: String(at) } },
});

export interface BoardCall {
  readonly id: 'launchpad.board';
  readonly ask: RequestParts<'launchpad.board'>;
}

/**
 * The board has the period and the time of the snapshot, not its entries; a saved row could not be
 * dated without them.
 */
export const boardEntries = (board: Sent): Sent[] =>
  recordsOf(board['entries']).map((entry) => onBoard(entry, board));

/**
 * Whether there was a snapshot: before the first, the service returns an empty board without a
 * time.
 */
export const isOnRecord = (board: Sent): boolean =>
  (board['capturedAt'] ?? null) !== null || boardEntries(board).length > 0;

function onBoard(entry: Sent, board: Sent): Sent {
  const { period, capturedAt, asOf } = board;
  return copySources({ ...entry, period, capturedAt, asOf, ...entry }, entry, board);
}

/** The wallet of an entry as wallets are compared: an EVM address has no case. */
export function walletKey({ wallet }: { readonly wallet?: unknown }): string | undefined {
  const text = textOf(wallet);
  return text ? normalToken(text) : undefined;
}

/**
 * Matched by wallet; one that a board has twice, in the order of its entries. Traders who left come
 * last, without figures, because their present ones are not known.
 */
export function compareBoards(board: Sent, before: Sent): Sent[] {
  const earlier = byWallet(before);
  const present = byWallet(board);
  const left = [...earlier].flatMap(([wallet, [entry]]) =>
    entry === undefined || present.has(wallet) ? [] : [onBoard(leaver(entry), board)],
  );
  const compared = boardEntries(board).map((entry) => {
    const wallet = walletKey(entry) ?? '';
    return { ...entry, ...moved(entry, earlier.get(wallet)?.shift(), !earlier.has(wallet)) };
  });
  return [...compared, ...left];
}

/** The entries of each wallet of a board. */
function byWallet(board: Sent): Map<string, Sent[]> {
  const entries = new Map<string, Sent[]>();
  for (const entry of boardEntries(board)) {
    const wallet = walletKey(entry);
    if (wallet !== undefined) addTo(entries, wallet, entry);
  }
  return entries;
}

function moved(entry: Sent, before: Sent | undefined, isNew: boolean) {
  if (walletKey(entry) === undefined) return { previousRank: null, rankChange: null };
  if (isNew) return { previousRank: null, change: 'new', rankChange: null };
  if (!before) return { previousRank: null, rankChange: null };
  const rank = numberOf(entry['rank']);
  const previousRank = numberOf(before['rank']);
  if (rank === undefined || previousRank === undefined) {
    return { previousRank: previousRank ?? null, rankChange: null };
  }
  const rankChange = previousRank - rank;
  return { previousRank, change: directionOf(rankChange), rankChange };
}

function directionOf(rankChange: number): 'up' | 'down' | 'same' {
  if (rankChange === 0) return 'same';
  return rankChange > 0 ? 'up' : 'down';
}

const leaver = (entry: Sent): Sent => ({
  rank: null,
  wallet: entry['wallet'],
  username: entry['username'],
  isVerified: entry['isVerified'],
  pnlSol: null,
  pnlUsd: null,
  pnlPercent: null,
  realizedPnlUsd: null,
  unrealizedPnlUsd: null,
  previousRank: numberOf(entry['rank']) ?? null,
  change: 'left',
  rankChange: null,
});
