import { safeLine } from '../terminal/safe-text.ts';
import type { Column } from '../view.ts';
import { columnsOf, valueIn } from './fields.ts';
import { formatCell, isRightAligned } from './format-cell.ts';
import type { FormatContext, Printer, PrinterOptions } from './printing.ts';
import { zoneText } from './time.ts';

const markup = /[\\`*_[\]<>|~&$]/g;

const escapeText = (text: string): string => safeLine(text).replace(markup, '\\$&');

/** A single `$` is not markup, and most mail programs show the backslash before it. */
const escapeNumber = (text: string): string => escapeText(text).replaceAll('\\$', '$');

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;

/** Prints records as a Markdown table. */
export class MarkdownPrinter<T> implements Printer<T> {
  readonly #options: PrinterOptions<T>;
  readonly #context: FormatContext;
  /** Undefined until the head is written. */
  #columns: readonly Column<T>[] | undefined;

  constructor(options: PrinterOptions<T>) {
    this.#options = options;
    this.#context = { ...options, unicode: true };
  }

  write(record: T): void | Promise<void> {
    const head = this.#columns ? '' : this.#start([record]);
    const cells = this.#columns?.map((column) => this.#cell(column, record)) ?? [];
    return this.#options.sink.write(head + line(cells));
  }

  async end(): Promise<void> {
    const { sink, view, notify } = this.#options;
    // A mail must not consist of nothing but a header.
    if (!this.#columns && view.empty !== '') notify?.(view.empty);
    else if (!this.#columns) await sink.write(this.#start([]));
    await sink.flush();
  }

  /** Chooses the columns, and returns the head. */
  #start(records: readonly T[]): string {
    const { view, fields } = this.#options;
    const { now, utc } = this.#context;
    const names = fields ?? (view.columns.length === 0 ? view.fields() : undefined);
    const all = names ? columnsOf(view, names, records) : view.columns;
    // Bars only repeat the number next to them.
    const columns = all.filter(({ kind }) => kind !== 'bar');
    this.#columns = columns;
    const titles = columns.map(({ title, kind }) =>
      escapeText(kind === 'time' ? `${title} (${zoneText(now(), utc)})` : title),
    );
    const rules = columns.map(({ kind }) =>
      isRightAligned(kind) && kind !== 'time' ? '---:' : '---',
    );
    return line(titles) + line(rules);
  }

  #cell(column: Column<T>, record: T): string {
    const kind = column.kindOf?.(record) ?? column.kind;
    const scale = kind === 'time' ? { hasYears: true } : undefined;
    const value = valueIn(column, record);
    const { text } = formatCell(kind, value, this.#context, scale);
    return typeof value === 'number' ? escapeNumber(text) : escapeText(text);
  }
}
