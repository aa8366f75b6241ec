import type { Board, BoardEntry } from '../contract/records/launchpad.ts';
import type { BoardRecord } from '../contract/records/tool.ts';

/**
 * The entries of a board, each with what became of its rank since an earlier snapshot; those who are no
 * longer on it follow, without figures: what they have now is not known.
 */
export function compareBoards(board: Board, before: Board): BoardRecord[] {
  const earlier = new Map(before.entries.map((entry) => [entry.wallet, entry]));
  const present = new Set(board.entries.map((entry) => entry.wallet));
  return [
    ...board.entries.map((entry) => ({ ...entry, ...moved(entry, earlier.get(entry.wallet)) })),
    ...before.entries.filter((entry) => !present.has(entry.wallet)).map(leaver),
  ];
}

function moved({ rank }: BoardEntry, before: BoardEntry | undefined) {
  if (!before) return { previousRank: null, change: 'new', rankChange: null } as const;
  const rankChange = before.rank - rank;
  const change = rankChange > 0 ? 'up' : rankChange < 0 ? 'down' : 'same';
  return { previousRank: before.rank, change, rankChange } as const;
}

const leaver = (entry: BoardEntry): BoardRecord => ({
  rank: null,
  wallet: entry.wallet,
  username: entry.username,
  isVerified: entry.isVerified,
  pnlSol: null,
  pnlUsd: null,
  pnlPercent: null,
  realizedPnlUsd: null,
  unrealizedPnlUsd: null,
  previousRank: entry.rank,
  change: 'left',
  rankChange: null,
});
