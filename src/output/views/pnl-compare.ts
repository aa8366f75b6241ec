import type { WindowName } from '../../contract/records/pnl.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import type { CellKind, View } from '../view.ts';
import { handleOf, measures, windowOf, windowStateText } from './pnl-rows.ts';

interface CompareRow {
  readonly window: string;
  readonly title: string;
  readonly kind: CellKind;
  readonly values: readonly unknown[];
}

const COMPARED = { least: 2, most: 5 } as const;
const COLUMN = 14;
const FRONT = 20;

export const fitsSideBySide = (handles: number, width: number): boolean =>
  handles >= COMPARED.least && handles <= COMPARED.most && FRONT + handles * COLUMN <= width;

/** One column for each trader, and one row for each number of each window. */
export function compareView(records: readonly PnlRecord[]): View<CompareRow> {
  return {
    columns: [
      { title: 'window', kind: 'text', field: 'window', min: 6 },
      { title: '', kind: 'text', field: 'title', min: 9 },
      ...records.map((record, at) => ({
        title: `@${handleOf(record)}`,
        kind: 'signedUsd' as const,
        kindOf: (row: CompareRow) => row.kind,
        value: (row: CompareRow) => row.values[at],
      })),
    ],
    fields: [],
    empty: 'no handles',
  };
}

export function compareRows(records: readonly PnlRecord[], windows: readonly WindowName[]): CompareRow[] {
  const notes = records.map((record) => windowStateText(record, windows));
  const first: CompareRow[] = notes.some((note) => note !== '')
    ? [{ window: '', title: 'note', kind: 'status', values: notes.map((note) => note || 'found') }]
    : [];
  return [
    ...first,
    ...windows.flatMap((window) =>
      measures.map(({ title, kind, field }, at) => ({
        window: at === 0 ? window : '',
        title,
        kind,
        values: records.map((record) => windowOf(record, window)?.[field]),
      })),
    ),
  ];
}
