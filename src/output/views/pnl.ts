import { fieldPaths } from '../../contract/paths.ts';
import { numberOf } from '../../contract/read-record.ts';
import type { WindowName } from '../../contract/records/pnl.ts';
import { PnlRecord } from '../../contract/records/subject.ts';
import type { CellKind, Column, View } from '../view.ts';
import {
  handleOf,
  largestOf,
  measureOf,
  type PnlRow,
  rowFields,
  rowsOf,
  type SortKey,
  windowOf,
  windowStateText,
} from './pnl-rows.ts';

const nameOf = (record: PnlRecord): string => `@${handleOf(record)}`;

const lengthOf = (netUsd: number | undefined, largest: number) =>
  netUsd === undefined ? undefined : largest > 0 ? netUsd / largest : 0;

/** In machine formats and on a card. */
export function pnlView(windows: readonly WindowName[]): View<PnlRecord> {
  const status = (record: PnlRecord) => windowStateText(record, windows);
  return {
    columns: [
      { title: 'handle', kind: 'handle', value: nameOf, min: 8, field: 'handle' },
      { title: 'status', kind: 'status', value: (record) => status(record) || 'found' },
    ],
    card: {
      title: (record) => (status(record) === '' ? nameOf(record) : `${nameOf(record)}: ${status(record)}`),
      lines: [
        { title: 'name', kind: 'text', field: 'displayName' },
        { title: 'X', kind: 'handle', field: 'twitter' },
        { title: 'followers', kind: 'integer', field: 'followers' },
        { title: 'Solana', kind: 'address', field: 'wallet' },
        { title: 'EVM', kind: 'address', field: 'evmWallet' },
        { title: 'refreshed', kind: 'time', field: 'updatedAt' },
        {
          title: 'error',
          kind: 'text',
          value: (record) => (record.found === null ? record.error.message : undefined),
        },
      ],
      table: {
        titles: [
          { title: 'window', kind: 'text' },
          { title: 'cash flow', kind: 'signedUsd' },
          { title: 'return', kind: 'percent' },
          { title: 'rank', kind: 'integer' },
          { title: 'volume', kind: 'usd' },
          { title: 'trades', kind: 'integer' },
          { title: '', kind: 'bar' },
        ],
        rows(record) {
          if (status(record) !== '') return [];
          const largest = Math.max(...windows.map((window) => largestOf([record])(window)));
          return windows.map((window) => {
            const { netUsd, returnPct, rank, volumeUsd, trades } = windowOf(record, window) ?? {};
            return [window, netUsd, returnPct, rank, volumeUsd, trades, lengthOf(numberOf(netUsd), largest)];
          });
        },
      },
    },
    fields: fieldPaths(PnlRecord),
    empty: 'no handles',
  };
}

interface TableRow extends PnlRow {
  readonly name: string;
  readonly length: number | undefined;
  /** Why a row has no numbers; empty if it has numbers. */
  readonly note: string;
}

/** A record without numbers has a single row. */
export function tableRows(
  record: PnlRecord,
  windows: readonly WindowName[],
  largest?: (window: WindowName) => number,
): TableRow[] {
  const note = windowStateText(record, windows);
  const rows = note === '' ? rowsOf(record, windows) : rowsOf(record, windows.slice(0, 1));
  return rows.map((row) => ({
    ...row,
    name: nameOf(record),
    length: largest && lengthOf(measureOf(record, row.window, 'netUsd'), largest(row.window)),
    note: note || windowStateText(record, [row.window]),
  }));
}

const shared: readonly Column<PnlRow>[] = [{ title: 'cash flow', kind: 'signedUsd', field: 'netUsd' }];
const numbers: readonly Column<PnlRow>[] = [
  { title: 'return', kind: 'percent', field: 'returnPct', rank: 2 },
  { title: 'volume', kind: 'usd', field: 'volumeUsd', rank: 4 },
  { title: 'trades', kind: 'integer', field: 'trades', rank: 5 },
  { title: 'rank', kind: 'integer', field: 'rank', rank: 1 },
];

/** `bars` needs all records before the first row is printed. `gaps` adds why a row has no numbers. */
export function rowView(look: {
  readonly bars: boolean;
  readonly gaps: boolean;
  readonly windows: readonly WindowName[];
}): View<TableRow> {
  const one = look.windows.length === 1;
  const title = one ? `cash flow ${look.windows[0]}` : 'cash flow';
  return {
    columns: [
      { title: 'handle', kind: 'handle', value: (row) => row.name, min: 8, field: 'handle' },
      ...(one
        ? []
        : [
            {
              title: 'window',
              kind: 'text' as const,
              value: (row: TableRow) => (row.status === 'ok' ? row.window : ''),
              field: 'window',
            },
          ]),
      ...shared.map((column) => ({ ...column, title })),
      ...(look.bars ? [{ title: '', kind: 'bar' as const, field: 'length', rank: 3 }] : []),
      ...numbers,
      ...(look.gaps ? [{ title: 'note', kind: 'status' as const, field: 'note', min: 18 }] : []),
    ],
    fields: rowFields,
    empty: 'no handles',
  };
}

/** One row per handle, with the differences in one window. */
export function differenceView(window: WindowName): View<PnlRecord> {
  const column = (title: string, kind: CellKind, name: SortKey, rank: number): Column<PnlRecord> => ({
    ...{ title, kind, rank, field: `changes.${window}.${name}` },
  });
  return {
    columns: [
      { title: 'handle', kind: 'handle', value: nameOf, min: 8, field: 'handle' },
      { title: 'change', kind: 'text', field: 'change', min: 7 },
      { title: `cash flow ${window}`, kind: 'signedUsd', field: `windows.${window}.netUsd`, rank: 1 },
      column('difference', 'signedUsd', 'netUsd', 0),
      column('return', 'percent', 'returnPct', 3),
      column('volume', 'signedUsd', 'volumeUsd', 4),
      column('trades', 'move', 'trades', 5),
      column('rank', 'move', 'rank', 2),
    ],
    fields: fieldPaths(PnlRecord),
    empty: 'nothing changed',
    noun: ['handle', 'handles'],
  };
}

/** One row per handle and window. */
export const csvView: View<PnlRow> = {
  columns: [...shared, ...numbers],
  fields: rowFields,
  empty: 'no handles',
};
