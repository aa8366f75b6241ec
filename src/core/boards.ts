import { copySources } from '../base/json.ts';
import { textOf } from '../base/json-object.ts';
import { numberOf, recordsOf, type Sent } from '../contract/read-record.ts';

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
  board['capturedAt'] !== null || boardEntries(board).length > 0;

function onBoard(entry: Sent, board: Sent): Sent {
  const { period, capturedAt, asOf } = board;
  return copySources({ ...entry, period, capturedAt, asOf, ...entry }, entry, board);
}

/**
 * Matched by wallet. Traders who left come last, without figures, because their present ones are
 * not known.
 */
export function compareBoards(board: Sent, before: Sent): Sent[] {
  const earlier = new Map(boardEntries(before).map((entry) => [textOf(entry['wallet']), entry]));
  const present = new Set(boardEntries(board).map((entry) => textOf(entry['wallet'])));
  earlier.delete(undefined);
  return [
    ...boardEntries(board).map((entry) => ({ ...entry, ...moved(entry, earlier) })),
    ...[...earlier]
      .filter(([wallet]) => !present.has(wallet))
      .map(([, entry]) => onBoard(leaver(entry), board)),
  ];
}

function moved(entry: Sent, earlier: ReadonlyMap<string | undefined, Sent>) {
  const before = earlier.get(textOf(entry['wallet']));
  if (textOf(entry['wallet']) === undefined) return { previousRank: null, rankChange: null };
  if (!before) return { previousRank: null, change: 'new', rankChange: null };
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
