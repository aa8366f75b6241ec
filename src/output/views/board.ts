import { fieldPaths } from '../../contract/paths.ts';
import type { Sent } from '../../contract/read-record.ts';
import { BoardRecord } from '../../contract/records/tool.ts';
import type { Column, View } from '../view.ts';

function move({ change, previousRank, rankChange }: Sent) {
  if (change === 'new') return 'new';
  if (change !== 'left') return rankChange;
  return typeof previousRank === 'number' ? `left #${previousRank}` : 'left';
}

const change: Column<Sent> = { title: 'move', kind: 'move', value: move, field: 'change' };

export const boardView = (compared: boolean): View<Sent> => ({
  columns: [
    { title: compared ? 'rank' : '#', kind: 'integer', field: 'rank' },
    ...(compared ? [change] : []),
    { title: 'user', kind: 'text', field: 'username', rank: 1, min: 8 },
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
