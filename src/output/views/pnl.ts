import { fieldPaths } from '../../contract/paths.ts';
import { numberOf } from '../../contract/read-record.ts';
import type { WindowName } from '../../contract/records/pnl.ts';
import { PnlRecord } from '../../contract/records/subject.ts';
import type { View } from '../view.ts';
import {
  handleOf,
  largestOf,
  measureOf,
  measures,
  type PnlRow,
  rowFields,
  rowsOf,
  windowOf,
  windowStateText,
} from './pnl-rows.ts';

const nameOf = (record: PnlRecord): string => `@${handleOf(record)}`;

const lengthOf = (netUsd: number | undefined, largest: number) =>
  netUsd === undefined ? undefined : largest > 0 ? netUsd / largest : 0;

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
        titles: [{ title: 'window', kind: 'text' }, ...measures, { title: '', kind: 'bar' }],
        rows(record) {
          if (status(record) !== '') return [];
          const largest = Math.max(...windows.map(largestOf([record])));
          return windows.map((window) => {
            const numbers = windowOf(record, window);
            const length = lengthOf(numberOf(numbers?.['netUsd']), largest);
            return [window, ...measures.map(({ field }) => numbers?.[field]), length];
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
  readonly note: string;
}

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

const [cashFlow, ...others] = measures;

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
      { ...cashFlow, title },
      ...(look.bars ? [{ title: '', kind: 'bar' as const, field: 'length', rank: 3 }] : []),
      ...others,
      ...(look.gaps ? [{ title: 'note', kind: 'status' as const, field: 'note', min: 18 }] : []),
    ],
    fields: rowFields,
    empty: 'no handles',
  };
}

export function differenceView(window: WindowName): View<PnlRecord> {
  const kinds = { signedUsd: 'signedUsd', usd: 'signedUsd', percent: 'percent', integer: 'move' } as const;
  const differences = measures.map(({ title, kind, field, rank }) => ({
    title: field === 'netUsd' ? 'difference' : title,
    kind: kinds[kind],
    field: `changes.${window}.${field}`,
    rank: field === 'netUsd' ? 0 : rank + 1,
  }));
  return {
    columns: [
      { title: 'handle', kind: 'handle', value: nameOf, min: 8, field: 'handle' },
      { title: 'change', kind: 'text', field: 'change', min: 7 },
      { title: `cash flow ${window}`, kind: 'signedUsd', field: `windows.${window}.netUsd`, rank: 1 },
      ...differences,
    ],
    fields: fieldPaths(PnlRecord),
    empty: 'nothing changed',
    noun: ['handle', 'handles'],
  };
}

export const csvView: View<PnlRow> = {
  columns: measures,
  fields: rowFields,
  empty: 'no handles',
};
