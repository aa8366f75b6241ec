import { asciiOnly, safeLine } from '../terminal/safe-text.ts';
import type { Style } from '../terminal/style.ts';
import { truncate, truncateStart, widthOf, wrap } from '../terminal/width.ts';
import type { CellKind, Column } from '../view.ts';
import { valueIn } from './fields.ts';
import { formatCell, isRightAligned, scaleOf } from './format-cell.ts';
import { type GridColumn, grid } from './grid.ts';
import type { Cell, FormatContext, Tone } from './printing.ts';
import { shortAddress } from './short-address.ts';
import { zoneText } from './time.ts';

export interface TableOptions {
  readonly width: number;
  readonly wide?: boolean | undefined;
  readonly style: Style;
  /** Must have the flag `g`. */
  readonly highlight?: RegExp | undefined;
  readonly context: FormatContext;
}

export interface Table<T> {
  /**
   * All rows of a call have the same widths; so do those of later calls, unless a cell that must
   * not be cut is wider.
   */
  draw(records: readonly T[], hasHead: boolean): string;
  /** The titles of columns that the user asked for, and that the terminal has no room for. */
  readonly leftOut: readonly string[];
  /** Whether the columns are wide enough for the numbers of a record. */
  suits(record: T): boolean;
}

interface GridCell {
  /** The cells that the text takes; escapes take none. */
  readonly width: number;
  readonly height: number;
  readonly text: string;
}

interface LaidOut<T> {
  readonly column: Column<T>;
  readonly title: string;
  readonly cell: (record: T) => Cell;
  readonly natural: number;
  /** The width of shortened addresses; `natural` for all other columns. */
  readonly short: number;
  /** After cutting or wrapping; the full width if the column must not be cut or wrapped. */
  readonly least: number;
  readonly width: number;
}

const GAP = 2;
/**
 * Text is printed below its row unless at least this many cells are free next to the other columns.
 */
const BESIDE = 72;

/** Matches in a longer line are not highlighted: a search takes the square of its length. */
const HIGHLIGHTED = 2_000;

/** Other kinds are never cut, because a cut number looks like another number. */
const mayBeCut = new Set<CellKind>(['text', 'handle', 'link', 'status']);
const LEAST_TEXT = 8;

/** The expected widths of cells, for a table that grows after its layout is chosen. */
const LIKELY = { number: 10, text: 14 } as const;

const widest = (texts: readonly string[]) =>
  texts.reduce((width, text) => Math.max(width, widthOf(text)), 1);

/**
 * Chooses the layout by the first records; `growing` reserves width for wider values in later
 * records.
 */
export function createTable<T>(
  columns: readonly Column<T>[],
  records: readonly T[],
  options: TableOptions,
  growing = false,
): Table<T> {
  const whole = { whole: true, wrap: false, below: false };
  const uncut = options.wide ? columns.map((column) => ({ ...column, ...whole })) : columns;
  const measured = uncut.map((column) => measure(column, records, options, growing));
  const layout = chooseLayout(measured, options);
  const shown = new Set(layout.columns.map(({ column }) => column));
  const leftOut = measured.filter(({ column }) => column.asked && !shown.has(column));
  const titles = leftOut.map(({ title }) => title);
  return new FittedTable(layout, options, titles);
}

const roomIn = ({ width }: Pick<TableOptions, 'width'>): number => Math.max(1, width);

const ellipsisIn = ({ context }: Pick<TableOptions, 'context'>): string =>
  context.unicode ? '…' : '..';

/** The widths that a column would like, and how its cells are formatted. */
function measure<T>(
  column: Column<T>,
  records: readonly T[],
  options: TableOptions,
  growing: boolean,
): LaidOut<T> {
  const { context } = options;
  const { kind, kindOf } = column;
  const scale = scaleOf(column, records);
  const ellipsis = ellipsisIn(options);
  const cell = (record: T) => {
    const own = kindOf?.(record) ?? kind;
    const formatted = formatCell(own, valueIn(column, record), context, scale);
    // An address in place of a name takes no more room than names do.
    const isStandIn = own === 'address' && kind !== 'address' && !column.whole;
    return isStandIn ? { ...formatted, text: shortAddress(formatted.text, ellipsis) } : formatted;
  };
  const title = titleOf(column, context);
  const texts = records.map((record) => cell(record).text);
  const isRight = isRightAligned(kind);
  const widestText = widest([title, ...texts]);
  const isOpen = growing || records.length === 0;
  const natural = isOpen ? Math.max(widestText, likelyWidth(column, growing, options)) : widestText;
  const short =
    kind === 'address' && !column.whole
      ? widest([title, ...texts.map((text) => shortAddress(text, ellipsis))])
      : natural;
  const isElastic = !isRight && (!column.whole || column.wrap);
  const min = column.min ?? (mayBeCut.has(kind) && !column.whole ? LEAST_TEXT : short);
  const least = isElastic ? Math.min(min, short) : natural;
  return { column, title, cell, natural, short, least, width: natural };
}

function titleOf<T>({ kind, title }: Column<T>, context: FormatContext): string {
  const zone = kind === 'time' ? ` (${zoneText(context.now(), context.utc)})` : '';
  const name = safeLine(title + zone);
  return context.unicode ? name : asciiOnly(name);
}

/** The width that later records are expected to need. */
function likelyWidth<T>(
  { kind, wrap: wraps, below }: Column<T>,
  growing: boolean,
  options: TableOptions,
): number {
  const isText = kind === 'text' || kind === 'handle';
  const likely = isText ? LIKELY.text : 0;
  const value = isRightAligned(kind) ? LIKELY.number : likely;
  return growing && (wraps || below) ? Math.max(value, roomIn(options)) : value;
}

interface Layout<T> {
  readonly columns: readonly LaidOut<T>[];
  /** The text that is printed below each row, because it has too little room beside the others. */
  readonly below: LaidOut<T> | undefined;
}

function chooseLayout<T>(measured: readonly LaidOut<T>[], options: TableOptions): Layout<T> {
  const room = roomIn(options);
  const columns = fitColumns(measured, room, !measured.some(({ column }) => column.whole));
  const below = measured.find(({ column }) => column.below);
  if (!below) return { columns, below };
  const beside = columns.find(({ column }) => column === below.column);
  if (beside && beside.width >= Math.min(BESIDE, below.natural))
    return { columns, below: undefined };
  const others = measured.filter((one) => one !== below);
  return { columns: fitColumns(others, room, true), below };
}

/** A table whose widths are chosen. */
class FittedTable<T> implements Table<T> {
  readonly leftOut: readonly string[];
  readonly #layout: Layout<T>;
  readonly #options: TableOptions;
  readonly #room: number;
  readonly #ellipsis: string;

  constructor(layout: Layout<T>, options: TableOptions, leftOut: readonly string[]) {
    this.leftOut = leftOut;
    this.#layout = layout;
    this.#options = options;
    this.#room = roomIn(options);
    this.#ellipsis = ellipsisIn(options);
  }

  draw(records: readonly T[], hasHead: boolean): string {
    const rows = records.map((record) => this.#cellsOf(record));
    const columns = this.#gridColumns(rows);
    const texts = rows.map((row) => row.map(({ text }) => text));
    const head = hasHead ? this.#head() : undefined;
    const lines = grid(texts, head ? { columns, head } : { columns });
    const drawn: string[] = [];
    if (head) {
      const [titles = '', rule = ''] = lines.splice(0, 2);
      drawn.push(titles, this.#options.style('dim', rule));
    }
    for (const [at, row] of rows.entries()) {
      const height = row.reduce((highest, cell) => Math.max(highest, cell.height), 1);
      drawn.push(...lines.splice(0, height), ...this.#linesBelow(records[at] as T));
    }
    return drawn.map((line) => `${line}\n`).join('');
  }

  suits(record: T): boolean {
    return this.#layout.columns.every(
      ({ column, cell, width, natural }) =>
        !isRightAligned(column.kind) || width < natural || widthOf(cell(record).text) <= width,
    );
  }

  #head() {
    const { style, context } = this.#options;
    const titles = this.#layout.columns.map(({ title, width }) =>
      style('strong', truncate(title, width, this.#ellipsis).trimEnd()),
    );
    return { titles, rule: context.unicode ? '─' : '-' };
  }

  #gridColumns(rows: readonly GridCell[][]): GridColumn[] {
    return this.#layout.columns.map(({ column, width }, at) => ({
      // A column that is shown whole may be wider in this row than in those that set its width.
      width: rows.reduce((columnWidth, row) => Math.max(columnWidth, row[at]?.width ?? 0), width),
      align: isRightAligned(column.kind) ? 'right' : 'left',
    }));
  }

  #cellsOf(record: T): GridCell[] {
    return this.#layout.columns.map(({ column, cell, width }) => {
      const { text, tone } = cell(record);
      const lines = this.#linesIn(column, text, width);
      return {
        width: Math.max(...lines.map(widthOf)),
        height: lines.length,
        text: lines.map((line) => this.#paint(column, tone, line)).join('\n'),
      };
    });
  }

  #linesIn(
    { wrap: wraps, whole: isWhole, keepsEnd, lines, kind }: Column<T>,
    text: string,
    width: number,
  ) {
    if (wraps) return this.#wrapped(text, width, lines);
    if (isWhole) return [text];
    const isShort = kind === 'address' && widthOf(text) > width;
    const shown = isShort ? shortAddress(text, this.#ellipsis) : text;
    const cut = keepsEnd ? truncateStart : truncate;
    return [cut(shown, width, this.#ellipsis).trimEnd()];
  }

  #linesBelow(record: T): string[] {
    const { below } = this.#layout;
    if (!below) return [];
    const { column } = below;
    const { text, tone } = below.cell(record);
    if ((valueIn(column, record) ?? '') === '' || text.trim() === '') return [];
    const indent = this.#room > 20 ? '  ' : '';
    return this.#wrapped(text, this.#room - indent.length, column.lines).map(
      (line) => indent + this.#paint(column, tone, line),
    );
  }

  #wrapped(text: string, width: number, maxLines = Number.POSITIVE_INFINITY): string[] {
    const lines = wrap(text, width);
    if (lines.length <= maxLines) return lines;
    const rest = lines.slice(maxLines - 1).join(' ');
    return [...lines.slice(0, maxLines - 1), truncate(rest, width, this.#ellipsis)];
  }

  /** Colors a text and highlights the matches of a search. */
  #paint({ kind }: Column<T>, tone: Tone, text: string): string {
    const { style, highlight } = this.#options;
    if (!highlight || kind !== 'text' || text.length > HIGHLIGHTED) return style(tone, text);
    let painted = '';
    let end = 0;
    for (const { 0: match, index } of text.matchAll(highlight)) {
      if (match === '') continue;
      painted += style(tone, text.slice(end, index)) + style('match', match);
      end = index + match.length;
    }
    return painted + style(tone, text.slice(end));
  }
}

/**
 * Shortens addresses, cuts texts to their minimum, drops columns by rank, and then cuts those of
 * rank 0 further.
 */
function fitColumns<T>(
  all: readonly LaidOut<T>[],
  room: number,
  mayDrop: boolean,
): readonly LaidOut<T>[] {
  const rankOf = ({ column }: LaidOut<T>) => column.rank ?? 0;
  for (let kept = all; ; ) {
    const columns = kept.map((column) => ({
      ...column,
      width: Math.min(column.natural, Math.max(room, column.least)),
    }));
    const over = () =>
      columns.reduce((sum, { width }) => sum + width, GAP * (columns.length - 1)) - room;
    const narrow = (leastOf: (column: LaidOut<T>) => number) => {
      for (let cells = over(); cells > 0; cells--) {
        const elastic = columns.filter((column) => column.width > leastOf(column));
        const [first, ...others] = elastic;
        if (!first) return;
        others.reduce((widest, column) => (column.width > widest.width ? column : widest), first)
          .width--;
      }
    };
    if (over() > 0)
      for (const column of columns) column.width = Math.min(column.width, column.short);
    narrow(({ least }) => least);
    const highest = Math.max(...kept.map(rankOf));
    if (mayDrop && (highest === 0 || kept.length === 1)) narrow(() => 1);
    if (over() <= 0 || !mayDrop || kept.length === 1) return columns;
    const dropped = kept.findLastIndex((column) => rankOf(column) === highest);
    kept = kept.toSpliced(dropped, 1);
  }
}
