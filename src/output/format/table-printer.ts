import { loadStyle, type Style } from '../terminal/style.ts';
import { columnsOf } from './fields.ts';
import type { Printer, PrinterOptions } from './printing.ts';
import { createTable, type Table, type TableOptions } from './table.ts';

/** The number of records that determine the column widths of a table. */
const FIRST = 200;
/** The number of rows that determine the column widths when a live table repeats its header. */
const RECENT = 50;
/** A header is repeated at most this often, however small the screen is. */
const LEAST_LINES = 10;

export async function openTablePrinter<T>(options: PrinterOptions<T>): Promise<Printer<T>> {
  return new TablePrinter(options, await loadStyle(options.color ?? false));
}

/**
 * Prints records as a card or a table. A table collects its first records until the column widths
 * are known, and prints each later row immediately.
 */
class TablePrinter<T> implements Printer<T> {
  readonly #options: PrinterOptions<T>;
  readonly #style: Style;
  readonly #highlight: RegExp | undefined;
  /** The width of the terminal when the layout was chosen. */
  #width = 80;
  #first: T[] = [];
  /** The latest rows, which determine the column widths when the header is repeated. */
  #recent: readonly T[] = [];
  /** Undefined until the layout is chosen. */
  #table: Table<T> | undefined;
  /** The lines since the last header. */
  #lines = 0;
  #turn: NodeJS.Immediate | undefined;

  constructor(options: PrinterOptions<T>, style: Style) {
    const { highlight } = options.view;
    this.#options = options;
    this.#style = style;
    this.#highlight = highlight && new RegExp(highlight, `${highlight.flags.replace('g', '')}g`);
  }

  write(record: T): void | Promise<void> {
    const { sink, live } = this.#options;
    if (this.#table) return sink.write(this.#next(record, this.#table));
    this.#first.push(record);
    if (this.#first.length >= FIRST) {
      clearImmediate(this.#turn);
      return sink.write(this.#start(true));
    }
    // Records that arrive in the same turn of the event loop are printed together.
    if (live) this.#turn ??= setImmediate(() => this.#startLive());
  }

  async end(): Promise<void> {
    const { sink, live } = this.#options;
    clearImmediate(this.#turn);
    const isEmpty = live && this.#first.length === 0;
    if (!this.#table && !isEmpty) await sink.write(await this.#whole());
    await sink.flush();
  }

  #startLive(): void {
    if (!this.#table) this.#options.sink.write(this.#start(true))?.catch(() => {});
  }

  /** Everything there is, if it is less than determines the widths of a table. */
  async #whole(): Promise<string> {
    const { view, fields, single, notify } = this.#options;
    const [only] = this.#first;
    if (only === undefined) {
      // An empty result is a notice, because stdout carries only data.
      if (view.empty !== '') notify?.(view.empty);
      return '';
    }
    if (!single || this.#first.length > 1 || !view.card || fields) return this.#start(false);
    const { renderCard } = await import('./card.ts');
    return renderCard(view.card, only, this.#look());
  }

  #start(growing: boolean): string {
    const first = this.#first;
    const text = this.#begin(first, growing).draw(first, true);
    this.#lines = linesIn(text);
    this.#recent = first.slice(-RECENT);
    this.#first = [];
    return text;
  }

  /** Chooses the layout by these records. */
  #begin(records: readonly T[], growing: boolean): Table<T> {
    const { view, fields } = this.#options;
    const columns = fields ? columnsOf(view, fields, records) : view.columns;
    const isFirst = this.#table === undefined;
    this.#table = createTable(columns, records, this.#look(), growing);
    const { leftOut } = this.#table;
    if (isFirst && leftOut.length > 0)
      this.#options.notify?.(`no room for ${leftOut.join(', ')}; --wide shows all columns`);
    this.#lines = 0;
    return this.#table;
  }

  #look(): TableOptions {
    const { size, wide } = this.#options;
    this.#width = Math.max(1, size().width);
    return {
      width: this.#width,
      wide,
      highlight: this.#highlight,
      context: this.#options,
      style: this.#style,
    };
  }

  /**
   * Formats a row. The header is repeated if the columns do not suit the row; in a live table also
   * after a resize, or when it has scrolled off the screen.
   */
  #next(record: T, table: Table<T>): string {
    const isStale = !table.suits(record);
    const isAgain = isStale || this.#hasMoved();
    const shown = isAgain
      ? this.#begin(isStale ? [record] : [...this.#recent, record], true)
      : table;
    const text = (isAgain ? '\n' : '') + shown.draw([record], isAgain);
    this.#lines += linesIn(text);
    this.#recent = [...(isStale ? [] : this.#recent), record].slice(-RECENT);
    return text;
  }

  #hasMoved(): boolean {
    if (!this.#options.live) return false;
    const { width, height } = this.#options.size();
    const isGone = height !== undefined && this.#lines >= Math.max(LEAST_LINES, height - 1);
    return width !== this.#width || isGone;
  }
}

const linesIn = (text: string): number => text.split('\n').length - 1;
