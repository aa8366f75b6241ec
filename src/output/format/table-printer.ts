import { loadStyle } from '../terminal/style.ts';
import type { FormatContext } from './cell.ts';
import { columnsOf } from './picked-columns.ts';
import type { Printer, PrinterOptions } from './printing.ts';
import { createTable, type Table, type TableOptions } from './table.ts';

/** Records that settle the widths of a long table. */
const FIRST = 200;

/** Prints records as a card or a table; a table starts once its widths are known, and then grows row by row. */
export async function createTablePrinter<T>(options: PrinterOptions<T>): Promise<Printer<T>> {
  const { sink, view, fields } = options;
  const context: FormatContext = {
    utc: options.utc ?? false,
    timeZone: options.timeZone,
    unicode: options.unicode ?? true,
    now: options.now ?? Date.now,
  };
  const width = Math.max(1, options.width ?? 80);
  const look: TableOptions = {
    width,
    wide: options.wide,
    context,
    style: await loadStyle(options.color ?? false),
  };
  let first: T[] = [];
  let table: Table<T> | undefined;
  let turn: NodeJS.Immediate | undefined;

  const start = (growing: boolean): string => {
    const columns = fields ? columnsOf(view, fields, first) : view.columns;
    table = createTable(columns, first, look, growing);
    const text = table.head() + first.map(table.row).join('');
    first = [];
    return text;
  };

  const whole = async (): Promise<string> => {
    const [only] = first;
    if (only === undefined) {
      // An empty result is a notice, because stdout only carries data.
      if (view.empty !== '') options.notify?.(view.empty);
      return '';
    }
    if (options.single && first.length === 1 && view.card && !fields) {
      const { renderCard } = await import('./card.ts');
      return renderCard(view.card, only, look);
    }
    return start(false);
  };

  return {
    write(record) {
      if (table) return sink.write(table.row(record));
      first.push(record);
      if (first.length >= FIRST) {
        clearImmediate(turn);
        return sink.write(start(true));
      }
      // What came in one turn belongs together, and shows at once.
      if (options.live && !turn) {
        turn = setImmediate(() => {
          if (!table) sink.write(start(true))?.catch(() => {});
        });
      }
    },
    async end() {
      clearImmediate(turn);
      if (!table && !(options.live && first.length === 0)) await sink.write(await whole());
      await sink.flush();
    },
  };
}
