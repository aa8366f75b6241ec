import { loadStyle } from '../terminal/style.ts';
import { columnsOf } from './fields.ts';
import type { Printer, PrinterOptions } from './printing.ts';
import { createTable, type Table, type TableOptions } from './table.ts';

const FIRST = 200;
const RECENT = 50;

/** Collects the first records until the column widths are known, and prints each later row immediately. */
export async function createTablePrinter<T>(options: PrinterOptions<T>): Promise<Printer<T>> {
  const { sink, view, fields, size } = options;
  const style = await loadStyle(options.color ?? false);
  const highlight =
    view.highlight && new RegExp(view.highlight, `${view.highlight.flags.replace('g', '')}g`);
  let width = 80;
  let first: T[] = [];
  let recent: T[] = [];
  let table: Table<T> | undefined;
  let lines = 0;
  let turn: NodeJS.Immediate | undefined;

  const look = (): TableOptions => {
    width = Math.max(1, size().width);
    return { width, wide: options.wide, highlight, context: options, style };
  };
  const linesIn = (text: string) => text.split('\n').length - 1;

  const begin = (records: readonly T[], growing: boolean): Table<T> => {
    table = createTable(
      fields ? columnsOf(view, fields, records) : view.columns,
      records,
      look(),
      growing,
    );
    lines = 0;
    return table;
  };

  const start = (growing: boolean): string => {
    const text = begin(first, growing).draw(first, true);
    lines = linesIn(text);
    recent = first.slice(-RECENT);
    first = [];
    return text;
  };

  /** If the columns do not suit the row; in a live table also after a resize, or when it scrolled away. */
  const next = (record: T, current: Table<T>): string => {
    const { width: now, height } = options.live ? size() : { width, height: undefined };
    const isStale = !current.suits(record);
    let shown = current;
    if (isStale || now !== width || (height !== undefined && lines >= Math.max(10, height - 1))) {
      shown = begin(isStale ? [record] : [...recent, record], true);
    }
    const hasHead = shown !== current;
    const text = (hasHead ? '\n' : '') + shown.draw([record], hasHead);
    lines += linesIn(text);
    recent = [...(isStale ? [] : recent), record].slice(-RECENT);
    return text;
  };

  const whole = async (): Promise<string> => {
    const [only] = first;
    if (only === undefined) {
      // Stdout carries only data.
      if (view.empty !== '') options.notify?.(view.empty);
      return '';
    }
    if (options.single && first.length === 1 && view.card && !fields) {
      const { renderCard } = await import('./card.ts');
      return renderCard(view.card, only, look());
    }
    return start(false);
  };

  return {
    write(record) {
      if (table) return sink.write(next(record, table));
      first.push(record);
      if (first.length >= FIRST) {
        clearImmediate(turn);
        return sink.write(start(true));
      }
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
