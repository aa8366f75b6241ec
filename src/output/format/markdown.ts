import { safeLine } from '../terminal/safe-text.ts';
import type { Column } from '../view.ts';
import { columnsOf, valueIn } from './fields.ts';
import { formatCell, isRightAligned } from './format-cell.ts';
import type { Printer, PrinterOptions } from './printing.ts';
import { zoneText } from './time.ts';

const markup = /[\\`*_[\]<>|~&$]/g;

const escapeText = (text: string): string => safeLine(text).replace(markup, '\\$&');

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;

export function createMarkdownPrinter<T>(options: PrinterOptions<T>): Printer<T> {
  const { sink, view, fields } = options;
  const context = { ...options, unicode: true };
  let columns: readonly Column<T>[] | undefined;

  const start = (records: readonly T[]): string => {
    const names = fields ?? (view.columns.length === 0 ? view.fields : undefined);
    const all = names ? columnsOf(view, names, records) : view.columns;
    // Bars only repeat the number next to them.
    columns = all.filter(({ kind }) => kind !== 'bar');
    const titles = columns.map(({ title, kind }) =>
      escapeText(kind === 'time' ? `${title} (${zoneText(context.now(), context.utc)})` : title),
    );
    return (
      line(titles) +
      line(columns.map(({ kind }) => (isRightAligned(kind) && kind !== 'time' ? '---:' : '---')))
    );
  };

  const cellOf = (column: Column<T>, record: T): string => {
    const [kind, value] = [column.kindOf?.(record) ?? column.kind, valueIn(column, record)];
    return escapeText(
      formatCell(kind, value, context, kind === 'time' ? { hasYears: true } : undefined).text,
    );
  };

  return {
    write(record) {
      const head = columns ? '' : start([record]);
      return sink.write(head + line((columns ?? []).map((column) => cellOf(column, record))));
    },
    async end() {
      if (!columns) await sink.write(start([]));
      await sink.flush();
    },
  };
}
