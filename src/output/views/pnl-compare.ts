import type { PnlWindow, WindowName } from '../../contract/records/pnl.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import type { CellKind, View } from '../view.ts';
import { handleOf, windowOf, windowStateText } from './pnl-rows.ts';

/** A row of a comparison: one number of one window for each handle. */
interface CompareRow {
  readonly window: string;
  readonly title: string;
  readonly kind: CellKind;
  readonly values: readonly unknown[];
}

const measures: readonly {
  readonly title: string;
  readonly kind: CellKind;
  readonly of: keyof PnlWindow & string;
}[] = [
  { title: 'cash flow', kind: 'signedUsd', of: 'netUsd' },
  { title: 'return', kind: 'percent', of: 'returnPct' },
  { title: 'volume', kind: 'usd', of: 'volumeUsd' },
  { title: 'trades', kind: 'integer', of: 'trades' },
  { title: 'rank', kind: 'integer', of: 'rank' },
];

/** The smallest and the largest number of traders that a comparison shows side by side. */
const COMPARED = { least: 2, most: 5 } as const;
/** The width of one trader's column and the space before it in cells. */
const COLUMN = 14;
/** The total width of the columns before the first trader, in cells. */
const FRONT = 20;

/** Whether this many handles can be compared side by side in `width` cells. */
export const fitsSideBySide = (handles: number, width: number): boolean =>
  handles >= COMPARED.least && handles <= COMPARED.most && FRONT + handles * COLUMN <= width;

/** Traders side by side: one column for each, and one row for each number of each window. */
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

/** The rows of a comparison. If a handle has no numbers, the first row states why. */
export function compareRows(records: readonly PnlRecord[], windows: readonly WindowName[]): CompareRow[] {
  const notes = records.map((record) => windowStateText(record, windows));
  const first: CompareRow[] = notes.some((note) => note !== '')
    ? [{ window: '', title: 'note', kind: 'status', values: notes.map((note) => note || 'found') }]
    : [];
  return [
    ...first,
    ...windows.flatMap((window) =>
      measures.map(({ title, kind, of }, at) => ({
        window: at === 0 ? window : '',
        title,
        kind,
        values: records.map((record) => windowOf(record, window)?.[of]),
      })),
    ),
  ];
}
