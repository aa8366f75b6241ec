import type { WindowName } from '../../contract/records/pnl.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import type { View } from '../../output/view.ts';
import {
  compareView,
  differenceView,
  fitsSideBySide,
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
import { isRowFormat } from '../output/output.ts';
import type { Context } from '../run/context.ts';
import { type Comparison, compared } from './compare.ts';

export interface Shape {
  readonly format: OutputFormat;
  readonly windows: readonly WindowName[];
  readonly sort: SortKey | undefined;
  readonly sortWindow: WindowName;
  readonly fields: string | undefined;
  /** Whether the command line names exactly one subject. Its record is then printed alone, not as a list. */
  readonly single: boolean;
  readonly comparison?: Comparison | undefined;
  readonly handles: number;
  readonly width: number;
}

type Print = <T>(view: View<T>, single: boolean, items: AsyncIterable<T>) => Promise<void>;

/** How many rows are written before they are flushed to the reader. */
const FLUSH_ROWS = 100;

export const printer =
  ({ out }: Pick<Context, 'out'>): Print =>
  (view, single, items) =>
    out.emit(view, single, async (records) => {
      let rows = 0;
      for await (const item of items) {
        await records.write(item);
        if (++rows % FLUSH_ROWS === 0) await records.flush();
      }
    });

/** Larger tables are printed without bars and exact widths, as rows arrive. */
export const WHOLE_TABLE = 1_000;

const isRows = ({ format }: Shape) => isRowFormat(format);
const isDelimited = ({ format }: Shape) => format === 'csv' || format === 'tsv';

/** Whether all records must be available before the first one is printed. */
export const isWhole = (shape: Shape): boolean =>
  isRows(shape) &&
  (shape.sort !== undefined || (shape.format === 'table' && shape.handles <= WHOLE_TABLE));

/** Whether --fields names a field that only records have, not rows. If so, records are shown. */
const wantsRecords = (fields: string) =>
  fields.split(',').some((name) => /^\.?(windows|error)(\.|$)/.test(name.trim()));

const showsRecords = (shape: Shape): boolean =>
  !isRows(shape) ||
  (shape.single && shape.format === 'table') ||
  (shape.fields !== undefined && wantsRecords(shape.fields));

/** The names that `--fields` accepts, for checks before any request is sent. */
export const knownFields = (shape: Shape): readonly string[] =>
  showsRecords(shape) ? pnlView(shape.windows).fields : rowFieldsOf(shape);

const rowFieldsOf = ({ comparison }: Shape) => (comparison ? comparedFields : rowFields);

export async function present(
  given: AsyncIterable<PnlRecord>,
  shape: Shape,
  print: Print,
): Promise<void> {
  const records = shape.comparison ? compared(given, shape.comparison) : given;
  const { windows, sort, format, fields, single } = shape;
  if (!isWhole(shape)) return await pass(records, shape, print);
  const list: PnlRecord[] = [];
  let failure: { readonly error: unknown } | undefined;
  try {
    for await (const record of records) list.push(record);
  } catch (error) {
    // Print the records received so far before throwing, because they were paid for.
    failure = { error };
    if (list.length === 0) throw error;
  }
  const ordered = sort ? sorted(list, sort, shape.sortWindow) : list;
  async function* replay<T>(items: readonly T[]): AsyncGenerator<T> {
    yield* items;
    if (failure) throw failure.error;
  }
  if (
    isDelimited(shape) ||
    (single && format === 'table') ||
    fields !== undefined ||
    shape.comparison
  )
    return await pass(replay(ordered), shape, print);
  if (format === 'table' && windows.length > 1 && fitsSideBySide(list.length, shape.width)) {
    const { view, rows } = compareView(ordered, windows);
    return await print(view, false, replay(rows));
  }
  const rows = ordered.flatMap((record) => tableRowsOf(record, windows));
  await print(rowView(windows, rows), false, replay(rows));
}

async function pass(records: AsyncIterable<PnlRecord>, shape: Shape, print: Print): Promise<void> {
  const { windows, fields, single, comparison } = shape;
  if (showsRecords(shape)) return await print(pnlView(windows), single, records);
  if (comparison && fields === undefined && !isDelimited(shape))
    return await print(differenceView(comparison.window), false, records);
  const rowsOf = isDelimited(shape) ? csvRowsOf : tableRowsOf;
  const rows = async function* () {
    for await (const record of records) yield* rowsOf(record, windows);
  };
  await print({ ...rowView(windows), fields: rowFieldsOf(shape) }, false, rows());
}
