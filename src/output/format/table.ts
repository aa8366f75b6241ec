import { asciiOnly, safeLine } from '../terminal/safe-text.ts';
import type { Style } from '../terminal/style.ts';
import { head, padding, truncate, widthOf, wrap } from '../terminal/width.ts';
import type { CellKind, Column } from '../view.ts';
import { valueIn } from './fields.ts';
import { formatCell, isRightAligned, scaleOf } from './format-cell.ts';
import type { Cell, FormatContext, Tone } from './printing.ts';
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
  readonly head: () => string;
  readonly row: (record: T) => string;
  readonly suits: (record: T) => boolean;
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
/** Text is printed below its row unless at least this many cells are free next to the other columns. */
const BESIDE = 72;

/** Other kinds are never cut, because a cut number looks like another number. */
const mayBeCut = new Set<CellKind>(['text', 'handle', 'link', 'status']);
const LEAST_TEXT = 8;

/** The expected widths of cells, for a table that grows after its layout is chosen. */
const LIKELY = { number: 10, text: 14 } as const;

/** `7xKX…9fQ2`, `0x1a2b…9f0e`. */
function shorten(address: string, ellipsis: string): string {
  const front = address.startsWith('0x') ? 6 : 4;
  if (address.length <= front + 4 + ellipsis.length || !/^[\x21-\x7e]*$/.test(address)) return address;
  return `${address.slice(0, front)}${ellipsis}${address.slice(-4)}`;
}

const widest = (texts: readonly string[]) => texts.reduce((most, text) => Math.max(most, widthOf(text)), 1);

/** `growing` reserves width for wider values in later records. */
export function createTable<T>(
  columns: readonly Column<T>[],
  records: readonly T[],
  options: TableOptions,
  growing = false,
): Table<T> {
  const { context, style, wide = false } = options;
  const room = Math.max(1, options.width);
  const ellipsis = context.unicode ? '…' : '..';

  const layOut = (column: Column<T>): LaidOut<T> => {
    const { kind, kindOf } = column;
    const scale = scaleOf(column, records);
    const cell = (record: T) => formatCell(kindOf?.(record) ?? kind, valueIn(column, record), context, scale);
    const zone = kind === 'time' ? ` (${zoneText(context.now(), context.utc)})` : '';
    const name = safeLine(column.title + zone);
    const title = context.unicode ? name : asciiOnly(name);
    const texts = records.map((record) => cell(record).text);
    const isRight = isRightAligned(kind);
    let natural = widest([title, ...texts]);
    if (growing || records.length === 0) {
      if (isRight) natural = Math.max(natural, LIKELY.number);
      if (kind === 'text' || kind === 'handle') natural = Math.max(natural, LIKELY.text);
      if (growing && !wide && (column.wrap || column.below)) natural = Math.max(natural, room);
    }
    const isWhole = wide || column.whole === true;
    const short =
      kind === 'address' && !isWhole
        ? widest([title, ...texts.map((text) => shorten(text, ellipsis))])
        : natural;
    const isElastic = !isRight && !wide && (!column.whole || column.wrap);
    const min = column.min ?? (mayBeCut.has(kind) && !isWhole ? LEAST_TEXT : short);
    const least = isElastic ? Math.min(min, short) : natural;
    return { column, title, cell, natural, short, least, width: natural };
  };

  const all = columns.map(layOut);
  const mayDrop = !wide && !columns.some((column) => column.whole);
  let layout = fitColumns(all, wide ? Number.POSITIVE_INFINITY : room, mayDrop);
  let below = wide ? undefined : all.find(({ column }) => column.below);
  const beside = layout.find(({ column }) => column === below?.column);
  if (below && beside && beside.width >= Math.min(BESIDE, below.natural)) below = undefined;
  if (below)
    layout = fitColumns(
      all.filter((one) => one !== below),
      room,
      true,
    );

  const cutLines = (lines: string[], most: number | undefined, width: number): string[] => {
    if (most === undefined || lines.length <= most) return lines;
    const last = lines[most - 1] ?? '';
    const cut = head(last, width - ellipsis.length).trimEnd() + ellipsis;
    return [...lines.slice(0, most - 1), truncate(cut, width, ellipsis)];
  };

  const linesOf = (column: Column<T>, text: string, width: number): string[] => {
    const wraps = column.wrap === true && !wide;
    if (wide || column.whole) return wraps ? wrap(text, width) : [text];
    if (wraps && widthOf(text) > width) return cutLines(wrap(text, width), column.lines, width);
    const isShort = column.kind === 'address' && widthOf(text) > width;
    return [truncate(isShort ? shorten(text, ellipsis) : text, width, ellipsis).trimEnd()];
  };

  const paint = (column: Column<T>, tone: Tone, text: string): string => {
    if (!options.highlight || column.kind !== 'text') return style(tone, text);
    let out = '';
    let end = 0;
    for (const { 0: found, index } of text.matchAll(options.highlight)) {
      if (found === '') continue;
      out += style(tone, text.slice(end, index)) + style('match', found);
      end = index + found.length;
    }
    return out + style(tone, text.slice(end));
  };

  /** Pads a cell only if text follows, so that no line ends with blanks. */
  const line = (parts: readonly { fitted: LaidOut<T>; text: string; painted: string }[]): string => {
    let out = '';
    let blanks = '';
    for (const { fitted, text, painted } of parts) {
      const fill = padding(text, fitted.width);
      const isRight = isRightAligned(fitted.column.kind);
      out += text === '' ? '' : blanks + (isRight ? fill : '') + painted;
      blanks = (text === '' ? blanks + fill : isRight ? '' : fill) + ' '.repeat(GAP);
    }
    return out;
  };

  const row = (record: T): string => {
    const shown = layout.map((fitted) => {
      const { text, tone } = fitted.cell(record);
      return { fitted, tone, lines: linesOf(fitted.column, text, fitted.width) };
    });
    const height = shown.reduce((most, { lines }) => Math.max(most, lines.length), 1);
    const out = Array.from({ length: height }, (_, at) =>
      line(
        shown.map(({ fitted, tone, lines }) => {
          const text = lines[at] ?? '';
          return { fitted, text, painted: paint(fitted.column, tone, text) };
        }),
      ),
    );
    if (below) {
      const { column } = below;
      const { text, tone } = below.cell(record);
      const indent = room > 20 ? '  ' : '';
      const width = room - indent.length;
      if ((valueIn(column, record) ?? '') !== '' && text.trim() !== '')
        for (const part of cutLines(wrap(text, width), column.lines, width))
          out.push(indent + paint(column, tone, part));
    }
    return `${out.join('\n')}\n`;
  };

  const top = (): string => {
    const parts = layout.map((fitted) => {
      const text = truncate(fitted.title, fitted.width, ellipsis).trimEnd();
      return { fitted, text, painted: style('strong', text) };
    });
    const mark = context.unicode ? '─' : '-';
    const rule = layout.map(({ width }) => mark.repeat(width)).join(' '.repeat(GAP));
    return `${line(parts)}\n${style('dim', rule)}\n`;
  };

  const suits = (record: T): boolean =>
    layout.every(
      ({ column, cell, width, natural }) =>
        !isRightAligned(column.kind) || width < natural || widthOf(cell(record).text) <= width,
    );

  return { head: top, row, suits };
}

/**
 * Divides the width among columns: addresses are shortened, texts are cut to their minimum, then columns are
 * dropped, highest rank first. Columns of rank 0 are cut below their minimum instead, and dropped only if not
 * even one cell each fits. Without `mayDrop`, the table may be wider than the terminal.
 */
function fitColumns<T>(all: readonly LaidOut<T>[], room: number, mayDrop: boolean): readonly LaidOut<T>[] {
  const rankOf = ({ column }: LaidOut<T>) => column.rank ?? 0;
  for (let kept = all; ; ) {
    const columns = kept.map((column) => ({
      ...column,
      width: Math.min(column.natural, Math.max(room, column.least)),
    }));
    const over = () => columns.reduce((sum, { width }) => sum + width, GAP * (columns.length - 1)) - room;
    const narrow = (leastOf: (column: LaidOut<T>) => number) => {
      for (let cells = over(); cells > 0; cells--) {
        const elastic = columns.filter((column) => column.width > leastOf(column));
        const [first, ...others] = elastic;
        if (!first) return;
        others.reduce((widest, column) => (column.width > widest.width ? column : widest), first).width--;
      }
    };
    if (over() > 0) for (const column of columns) column.width = Math.min(column.width, column.short);
    narrow(({ least }) => least);
    const highest = Math.max(...kept.map(rankOf));
    if (mayDrop && (highest === 0 || kept.length === 1)) narrow(() => 1);
    if (over() <= 0 || !mayDrop || kept.length === 1) return columns;
    const dropped = kept.findLastIndex((column) => rankOf(column) === highest);
    kept = kept.toSpliced(dropped, 1);
  }
}
