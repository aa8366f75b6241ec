import type { PnlWindow, WindowName } from '../../contract/records/pnl.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import type { CellKind, View } from '../view.ts';
import { handleOf, windowOf, windowStateText } from './pnl-rows.ts';

/** A line of a comparison: one number of one window, for each handle. */
export interface CompareRow {
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

/** How many traders are few enough to stand side by side. */
export const COMPARED = { least: 2, most: 5 } as const;
/** Cells that a column of the comparison needs, and those in front of all of them. */
const COLUMN = 12;
const FRONT = 20;

/** Whether so many handles can be read side by side. */
export const fitsSideBySide = (handles: number, width: number): boolean =>
  handles >= COMPARED.least && handles <= COMPARED.most && FRONT + handles * COLUMN <= width;

/** Traders side by side: a column each, windows and numbers below one another. */
export function compareView(records: readonly PnlRecord[]): View<CompareRow> {
  return {
    columns: [
      { title: 'window', kind: 'text', value: (row) => row.window, min: 6 },
      { title: '', kind: 'text', value: (row) => row.title, min: 9 },
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

/** The lines of a comparison; the first says of whom there is nothing, and why. */
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
