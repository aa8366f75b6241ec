import { fieldPaths } from '../../contract/paths.ts';
import type { Sent } from '../../contract/read-record.ts';
import { CallerCallout } from '../../contract/records/caller.ts';
import { ListedCallout } from '../../contract/records/launchpad.ts';
import { BoardRecord, HistoryRecord, TraderHistoryRecord } from '../../contract/records/tool.ts';
import type { Column, View } from '../view.ts';
import { nameOrAddress } from './named.ts';

/** What the table shows of a trader. The lists have an item per snapshot. */
interface TraderLine {
  readonly username: unknown;
  readonly wallet: string;
  readonly ranks: readonly (number | null)[];
  readonly pnls: readonly (number | null)[];
  readonly stood: number;
}

function move({ change, previousRank, rankChange }: Sent) {
  if (change === 'new') return 'new';
  if (change !== 'left') return rankChange;
  return typeof previousRank === 'number' ? `left #${previousRank}` : 'left';
}

const change: Column<Sent> = { title: 'move', kind: 'move', value: move, field: 'change' };

/** Who asks for the trader reads the whole handle before other figures. */
const trader: Column<Sent> = { title: 'trader', kind: 'handle', field: 'trader', min: 16 };

export const boardView = (
  compared: boolean,
  isNamed: boolean,
  isSelection = false,
): View<Sent> => ({
  columns: [
    { title: compared ? 'rank' : '#', kind: 'integer', field: 'rank' },
    ...(compared ? [change] : []),
    { title: 'user', kind: 'text', field: 'username', rank: 1, min: 8 },
    ...(isNamed ? [trader] : []),
    { title: 'wallet', kind: 'address', field: 'wallet', min: 11 },
    { title: 'PnL', kind: 'signedUsd', field: 'pnlUsd' },
    { title: '', kind: 'bar', field: 'pnlUsd', rank: 3 },
    { title: 'return', kind: 'percent', field: 'pnlPercent', rank: 2 },
    { title: 'realized', kind: 'signedUsd', field: 'realizedPnlUsd', rank: 4 },
    { title: 'unrealized', kind: 'signedUsd', field: 'unrealizedPnlUsd', rank: 5 },
    { title: 'SOL', kind: 'number', field: 'pnlSol', rank: 6 },
    { title: 'verified', kind: 'flag', field: 'isVerified', rank: 7 },
  ],
  fields: () => fieldPaths(BoardRecord),
  empty: isSelection ? 'nothing changed' : '',
});

/** The entries of several snapshots. */
export const historyView: View<Sent> = {
  columns: [
    { title: 'captured', kind: 'time', field: 'capturedAt' },
    ...boardView(false, false).columns,
  ],
  fields: () => fieldPaths(HistoryRecord),
  empty: 'no entries',
};

/** A line per trader: where they stood at the beginning and the end, and what was between. */
export const traderHistoryView: View<TraderLine> = {
  columns: [
    {
      title: 'user',
      ...nameOrAddress<TraderLine>(
        ({ username }) => username,
        ({ wallet }) => wallet,
      ),
      min: 8,
    },
    { title: '# first', kind: 'integer', value: ({ ranks }) => ranks[0] },
    { title: '# last', kind: 'integer', value: ({ ranks }) => ranks.at(-1) },
    { title: 'PnL first', kind: 'signedUsd', value: ({ pnls }) => pnls[0], rank: 1 },
    { title: 'PnL last', kind: 'signedUsd', value: ({ pnls }) => pnls.at(-1) },
    { title: 'PnL', kind: 'trend', value: ({ pnls }) => pnls, rank: 2 },
    { title: 'on', kind: 'text', value: ({ stood, ranks }) => `${stood} of ${ranks.length}` },
    { title: 'wallet', kind: 'address', value: ({ wallet }) => wallet, rank: 3, min: 11 },
  ],
  fields: () => [],
  empty: 'nobody on the leaderboard',
};

/** The same for programs. A table shows these columns only if --fields selects them. */
export const traderRecordView: View<TraderHistoryRecord> = {
  columns: [],
  fields: () => fieldPaths(TraderHistoryRecord),
  empty: 'nobody on the leaderboard',
};

const postColumns: readonly Column<Sent>[] = [
  { title: 'posted', kind: 'time', field: 'createdAt', rank: 2 },
  {
    title: 'coin',
    ...nameOrAddress<Sent>(
      ({ coinSymbol, coinName }) => coinSymbol ?? coinName,
      ({ coinMint }) => coinMint,
    ),
    min: 6,
    field: 'coinSymbol',
  },
  {
    title: 'by',
    ...nameOrAddress<Sent>(
      ({ userName }) => userName,
      ({ wallet }) => wallet,
    ),
    min: 8,
    field: 'userName',
  },
];

export const calloutView: View<Sent> = {
  columns: [
    ...postColumns,
    { title: 'now', kind: 'multiple', field: 'multiple' },
    { title: 'best', kind: 'multiple', field: 'maxMultiplier', rank: 3 },
    { title: 'mcap then', kind: 'usd', field: 'calledOutAtMcap', rank: 1 },
    { title: 'wallet', kind: 'address', field: 'wallet', rank: 4 },
    { title: 'mint', kind: 'address', field: 'coinMint', rank: 5 },
    { title: 'chain', kind: 'text', field: 'chain', rank: 6 },
    { title: 'why', kind: 'text', field: 'thesis', wrap: true, below: true, lines: 3 },
  ],
  fields: () => fieldPaths(ListedCallout),
  empty: 'no callouts',
};

/** The callouts of callers. */
export const callerCalloutView: View<Sent> = {
  ...calloutView,
  fields: () => fieldPaths(CallerCallout),
};

export const liveCalloutView: View<Sent> = {
  ...calloutView,
  columns: [
    ...postColumns,
    { title: 'mcap', kind: 'usd', field: 'calledOutAtMcap', rank: 1 },
    { title: 'mint', kind: 'address', field: 'coinMint', rank: 3 },
    { title: 'why', kind: 'text', field: 'thesis', wrap: true, below: true, lines: 6 },
  ],
};
