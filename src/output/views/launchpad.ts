import { fieldPaths } from '../../contract/paths.ts';
import type { Sent } from '../../contract/read-record.ts';
import { ListedCallout } from '../../contract/records/launchpad.ts';
import { BoardRecord } from '../../contract/records/tool.ts';
import type { Column, View } from '../view.ts';

function move({ change, previousRank, rankChange }: Sent) {
  if (change === 'new') return 'new';
  if (change !== 'left') return rankChange;
  return typeof previousRank === 'number' ? `left #${previousRank}` : 'left';
}

const change: Column<Sent> = { title: 'move', kind: 'move', value: move, field: 'change' };

const trader: Column<Sent> = { title: 'trader', kind: 'handle', field: 'trader', min: 8 };

export const boardView = (compared: boolean, isNamed: boolean): View<Sent> => ({
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
  fields: fieldPaths(BoardRecord),
  empty: '',
  noun: ['entry', 'entries'],
});

const postColumns: readonly Column<Sent>[] = [
  { title: 'posted', kind: 'time', field: 'createdAt', rank: 2 },
  {
    title: 'coin',
    kind: 'text',
    value: (row) => row['coinSymbol'] ?? row['coinName'] ?? row['coinMint'],
    min: 6,
    field: 'coinSymbol',
  },
  {
    title: 'by',
    kind: 'text',
    value: (row) => row['userName'] ?? row['wallet'],
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
  fields: fieldPaths(ListedCallout),
  empty: 'no callouts',
  noun: ['callout', 'callouts'],
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
