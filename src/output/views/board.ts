import { fieldPaths } from '../../contract/paths.ts';
import { numberOf, type Sent } from '../../contract/read-record.ts';
import { BoardRecord } from '../../contract/records/tool.ts';
import type { Column, View } from '../view.ts';

function move({ change, previousRank, rankChange }: Sent) {
  if (change === 'new') return 'new';
  if (change !== 'left') return rankChange;
  return typeof previousRank === 'number' ? `left #${previousRank}` : 'left';
}

const change: Column<Sent> = { title: 'move', kind: 'move', value: move, field: 'change' };

/** Bars are relative to the largest change in `rows`, which may be filled until the first row is printed. */
export function boardView(rows: readonly Sent[], compared: boolean): View<Sent> {
  let largest: number | undefined;
  const length = (row: Sent) => {
    largest ??= rows.reduce((most, { pnlUsd }) => Math.max(most, Math.abs(numberOf(pnlUsd) ?? 0)), 0);
    const pnlUsd = numberOf(row['pnlUsd']);
    return pnlUsd === undefined ? undefined : largest > 0 ? pnlUsd / largest : 0;
  };
  return {
    columns: [
      { title: compared ? 'rank' : '#', kind: 'integer', field: 'rank' },
      ...(compared ? [change] : []),
      { title: 'user', kind: 'text', field: 'username', rank: 1, min: 8 },
      { title: 'wallet', kind: 'address', field: 'wallet', min: 11 },
      { title: 'PnL', kind: 'signedUsd', field: 'pnlUsd' },
      { title: '', kind: 'bar', value: length, rank: 3 },
      { title: 'return', kind: 'percent', field: 'pnlPercent', rank: 2 },
      { title: 'realized', kind: 'signedUsd', field: 'realizedPnlUsd', rank: 4 },
      { title: 'unrealized', kind: 'signedUsd', field: 'unrealizedPnlUsd', rank: 5 },
      { title: 'SOL', kind: 'number', field: 'pnlSol', rank: 6 },
      { title: 'verified', kind: 'flag', field: 'isVerified', rank: 7 },
    ],
    fields: fieldPaths(BoardRecord),
    empty: '',
    noun: ['entry', 'entries'],
  };
}
