import { atHandle } from '../../contract/handles.ts';
import { fieldPaths } from '../../contract/paths.ts';
import type { WindowName } from '../../contract/records/pnl.ts';
import { PnlRecord } from '../../contract/records/subject.ts';
import type { CellKind, Column, View } from '../view.ts';
import {
  handleOf,
  measures,
  type PnlRow,
  rowFields,
  type SortKey,
  windowOf,
  windowState,
} from './pnl-rows.ts';

const stateTexts: Partial<Record<PnlRow['status'], string>> = {
  not_held: 'not found',
  no_wallet: 'no verified wallet',
  no_numbers: 'no numbers',
};

/** Empty if there are numbers. */
const stateText = (state: PnlRow['status'], code: unknown): string =>
  state === 'failed' ? `failed: ${code}` : (stateTexts[state] ?? '');

const nameOf = (record: PnlRecord): string => atHandle(handleOf(record));

const stateOf = (record: PnlRecord, windows: readonly WindowName[]) =>
  stateText(windowState(record, windows), record.found === null ? record.error.code : undefined);

export const pnlView = (windows: readonly WindowName[]): View<PnlRecord> => ({
  columns: [{ title: 'handle', kind: 'handle', value: nameOf, field: 'handle' }],
  card: {
    title: (record) => [nameOf(record), stateOf(record, windows)].filter(Boolean).join(': '),
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
      columns: [
        { title: 'window', kind: 'text', field: 'window' },
        ...measures,
        { title: '', kind: 'bar', field: 'netUsd', rank: 3 },
      ],
      rows: (record) =>
        stateOf(record, windows) === ''
          ? windows.map((window) => ({ ...windowOf(record, window), window }))
          : [],
    },
  },
  fields: () => fieldPaths(PnlRecord),
  empty: 'no handles',
});

type Measure = (typeof measures)[number];

const [cashFlow, ...others] = measures;

const handleColumn: Column<PnlRecord> = {
  title: 'handle',
  kind: 'handle',
  value: nameOf,
  min: 16,
  field: 'handle',
};

/**
 * `rows` are all rows, if they are known before the first one is printed. Bars need them, and
 * compare one window only.
 */
export function rowView(windows: readonly WindowName[], rows?: readonly PnlRow[]): View<PnlRow> {
  const one = windows.length === 1;
  const note = (row: PnlRow) => stateText(row.status, row['code']);
  const window = (row: PnlRow) => (row.status === 'ok' ? row.window : '');
  return {
    columns: [
      { title: 'handle', kind: 'handle', value: handleOf, min: 16, field: 'handle' },
      ...(one ? [] : [{ title: 'window', kind: 'text', value: window, field: 'window' } as const]),
      { ...cashFlow, title: one ? `cash flow ${windows[0]}` : 'cash flow' },
      ...(rows && one ? [{ title: '', kind: 'bar', field: 'netUsd', rank: 3 } as const] : []),
      ...others,
      ...(rows?.every(({ status }) => status === 'ok')
        ? []
        : [{ title: 'note', kind: 'status', value: note, min: 18 } as const]),
    ],
    fields: () => rowFields,
    empty: 'no handles',
  };
}

/** `changed, was @old` for a trader with another handle. */
const changeText = ({ change, was }: PnlRecord): unknown =>
  typeof was === 'string' ? `${change}, was ${atHandle(was)}` : change;

const differenceKinds = {
  signedUsd: 'signedUsd',
  usd: 'signedUsd',
  percent: 'percent',
  integer: 'move',
} as const;

/** The difference of a measure in one window. */
const differenceColumn = (
  { title, kind, field }: Measure,
  window: WindowName,
  rank: number,
): Column<PnlRecord> => ({
  title: `Δ ${title} ${window}`,
  kind: differenceKinds[kind],
  field: `changes.${window}.${field}`,
  rank,
});

const measureColumn = (
  { title, kind, field }: Measure,
  window: WindowName,
  rank: number,
): Column<PnlRecord> => ({
  title: `${title} ${window}`,
  kind,
  field: `windows.${window}.${field}`,
  rank,
});

const changeColumn: Column<PnlRecord> = {
  title: 'change',
  kind: 'text',
  value: changeText,
  min: 7,
};

/** The differences of all measures in one window. */
export function differenceView(window: WindowName): View<PnlRecord> {
  const differences = measures.map((measure) =>
    differenceColumn(measure, window, measure.field === 'netUsd' ? 0 : measure.rank + 1),
  );
  return {
    columns: [handleColumn, changeColumn, measureColumn(cashFlow, window, 1), ...differences],
    fields: () => fieldPaths(PnlRecord),
    empty: 'nothing changed',
  };
}

/** What a table with a column per window shows. */
export interface Grid {
  readonly windows: readonly WindowName[];
  readonly measure: SortKey;
  /** The window that a narrow terminal shows in any case: the traders are sorted by it. */
  readonly first: WindowName;
  readonly isComparison: boolean;
}

/**
 * A line per trader, and one measure in a column per window. `records` decide whether there is a
 * note.
 */
export function gridView(
  { windows, measure: name, first, isComparison }: Grid,
  records: readonly PnlRecord[] = [],
): View<PnlRecord> {
  const measure = measures.find(({ field }) => field === name) ?? cashFlow;
  const columns = windows.flatMap((window, at) => {
    const rank = window === first ? 0 : at + 1;
    const value = measureColumn(measure, window, rank);
    // Of a window, the difference is what was asked for, so the value is dropped before it.
    if (!isComparison) return [{ ...value, asked: true }];
    const difference = differenceColumn(measure, window, rank);
    return [
      { ...value, rank: rank + windows.length },
      { ...difference, asked: true },
    ];
  });
  const note = (record: PnlRecord) => stateOf(record, windows);
  const hasNotes = records.some((record) => note(record) !== '');
  return {
    columns: [
      handleColumn,
      ...(isComparison ? [changeColumn] : []),
      ...columns,
      ...(hasNotes ? [{ title: 'note', kind: 'status', value: note, min: 18 } as const] : []),
    ],
    fields: () => fieldPaths(PnlRecord),
    empty: isComparison ? 'nothing changed' : 'no handles',
  };
}

interface CompareRow {
  readonly window: string;
  readonly title: string;
  readonly kind: CellKind;
  readonly values: readonly unknown[];
}

/**
 * The number of traders of which each has one line. Fewer are shown side by side, more a window a
 * line.
 */
export const GRID = { least: 3, most: 20 } as const;

/** The narrowest terminal on which two traders fit side by side. */
const PAIR_WIDTH = 48;

export const fitsSideBySide = (handles: number, width: number): boolean =>
  handles === 2 && width >= PAIR_WIDTH;

export function compareView(records: readonly PnlRecord[], windows: readonly WindowName[]) {
  const view: View<CompareRow> = {
    columns: [
      { title: 'window', kind: 'text', field: 'window', min: 6 },
      { title: '', kind: 'text', field: 'title', min: 9 },
      ...records.map((record, at) => ({
        title: nameOf(record),
        kind: 'signedUsd' as const,
        kindOf: (row: CompareRow) => row.kind,
        value: (row: CompareRow) => row.values[at],
      })),
    ],
    fields: () => [],
    empty: 'no handles',
  };
  const notes = records.map((record) => stateOf(record, windows));
  const note: CompareRow = {
    window: '',
    title: 'note',
    kind: 'status',
    values: notes.map((text) => text || 'found'),
  };
  const rows = windows.flatMap((window) =>
    measures.map(({ title, kind, field }, at) => ({
      window: at === 0 ? window : '',
      title,
      kind,
      values: records.map((record) => windowOf(record, window)?.[field]),
    })),
  );
  return { view, rows: [...(notes.some((text) => text !== '') ? [note] : []), ...rows] };
}
