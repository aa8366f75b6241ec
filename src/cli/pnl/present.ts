import { copySources } from '../../base/json.ts';
import { isRecord } from '../../base/json-object.ts';
import { type WindowName, windowNames } from '../../contract/records/pnl.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import { type Comparison, compared } from '../../input/earlier/compare-pnl.ts';
import type { View } from '../../output/view.ts';
import {
  compareView,
  differenceView,
  fitsSideBySide,
  GRID,
  type Grid,
  gridView,
  pnlView,
  rowView,
} from '../../output/views/pnl.ts';
import {
  comparedFields,
  csvRowsOf,
  rowFields,
  type SortKey,
  sorted,
  tableRowsOf,
} from '../../output/views/pnl-rows.ts';
import type { OutputFormat } from '../args/common.ts';
import { rowsUntilFailure, withFailure } from '../lists/row-order.ts';
import { isRowFormat } from '../run/open-printer.ts';
import type { Out } from '../run/out.ts';

export interface Shape {
  readonly format: OutputFormat;
  readonly windows: readonly WindowName[];
  readonly sort: SortKey | undefined;
  readonly sortWindow: WindowName;
  /** Whether the worst come first. */
  readonly reverse: boolean;
  /** How many records of the sorted list are printed. */
  readonly limit?: number | undefined;
  readonly fields: string | undefined;
  /**
   * Whether the command line names exactly one subject. Its record is then printed alone, not as a
   * list.
   */
  readonly single: boolean;
  readonly comparison?: Comparison | undefined;
  readonly handles: number;
  readonly width: number;
}

type Print = <T>(view: View<T>, single: boolean, items: AsyncIterable<T>) => Promise<void>;

export const printer =
  (out: Out): Print =>
  (view, single, items) =>
    out.print(view, items, { isSingle: single });

/** Larger tables are printed without bars and exact widths, as rows arrive. */
export const WHOLE_TABLE = 1_000;

const isRows = ({ format }: Shape) => isRowFormat(format);
const isDelimited = ({ format }: Shape) => format === 'csv' || format === 'tsv';

/** Whether all records must be available before the first one is printed. */
export const isWhole = (shape: Shape): boolean =>
  shape.comparison !== undefined ||
  shape.sort !== undefined ||
  (shape.format === 'table' && shape.handles <= WHOLE_TABLE) ||
  (shape.format === 'markdown' && shape.handles <= GRID.most);

/** Whether --fields names a field that only records have, not rows. If so, records are shown. */
const wantsRecords = (fields: string) =>
  fields.split(',').some((name) => /^\.?(windows|error)(\.|$)/.test(name.trim()));

const showsRecords = (shape: Shape): boolean =>
  !isRows(shape) ||
  (shape.single && shape.format === 'table') ||
  (shape.fields !== undefined && wantsRecords(shape.fields));

/** The names that `--fields` accepts, for checks before any request is sent. */
export const knownFields = (shape: Shape): readonly string[] =>
  showsRecords(shape) ? pnlView(shape.windows).fields() : rowFieldsOf(shape);

const rowFieldsOf = ({ comparison }: Shape) => (comparison ? comparedFields : rowFields);

export async function present(
  records: AsyncIterable<PnlRecord>,
  shape: Shape,
  print: Print,
): Promise<void> {
  const { windows, sort, format, fields, single, comparison } = shape;
  if (!isWhole(shape)) return await pass(records, shape, print);
  const { rows: list, failure } = await rowsUntilFailure(records);
  if (failure !== undefined && list.length === 0) throw failure;
  const { sortWindow, reverse, limit } = shape;
  const isPartial = comparison?.isPartial || failure !== undefined;
  const shown = comparison ? compared(list, { ...comparison, isPartial }) : list;
  const ordered = (sort ? sorted(shown, sort, sortWindow, reverse) : shown).slice(0, limit);
  if (
    !isRows(shape) ||
    isDelimited(shape) ||
    (single && format === 'table') ||
    fields !== undefined ||
    comparison
  )
    return await pass(withFailure(ordered, failure), shape, print);
  const isWide = windows.length > 1;
  if (format === 'table' && isWide && fitsSideBySide(ordered.length, shape.width)) {
    const { view, rows } = compareView(ordered, windows);
    return await print(view, false, withFailure(rows, failure));
  }
  if (isWide && ordered.length >= GRID.least && ordered.length <= GRID.most)
    return await print(gridView(gridOf(shape), ordered), false, withFailure(ordered, failure));
  const rows = ordered.flatMap((record) => tableRowsOf(record, windows));
  await print(rowView(windows, rows), false, withFailure(rows, failure));
}

const gridOf = ({ windows, sort, sortWindow, comparison }: Shape): Grid => ({
  windows,
  measure: sort ?? 'netUsd',
  first: sortWindow,
  isComparison: comparison !== undefined,
});

/**
 * The records with only these windows: machine formats contain what --window selects, as tables do.
 */
async function* narrowed(
  records: AsyncIterable<PnlRecord>,
  names: readonly WindowName[],
): AsyncGenerator<PnlRecord> {
  const others = windowNames.filter((name) => !names.includes(name));
  for await (const record of records) yield others.length === 0 ? record : without(record, others);
}

function without(record: PnlRecord, names: readonly WindowName[]): PnlRecord {
  const copy: PnlRecord = { ...record };
  for (const field of ['windows', 'changes']) {
    const windows = record[field];
    if (isRecord(windows))
      Object.assign(copy, {
        [field]: Object.fromEntries(
          Object.entries(windows).filter(([name]) => !names.some((other) => other === name)),
        ),
      });
  }
  return copySources(copy, record);
}

async function pass(records: AsyncIterable<PnlRecord>, shape: Shape, print: Print): Promise<void> {
  const { windows, fields, single, comparison } = shape;
  if (showsRecords(shape)) {
    const shown = isRows(shape) ? records : narrowed(records, windows);
    return await print(pnlView(windows), single, shown);
  }
  if (comparison && fields === undefined && !isDelimited(shape)) {
    const isOne = comparison.windows.length === 1;
    const view = isOne ? differenceView(comparison.window) : gridView(gridOf(shape));
    return await print(view, false, records);
  }
  const rowsOf = isDelimited(shape) ? csvRowsOf : tableRowsOf;
  const rows = async function* () {
    for await (const record of records) yield* rowsOf(record, windows);
  };
  await print({ ...rowView(windows), fields: () => rowFieldsOf(shape) }, false, rows());
}
