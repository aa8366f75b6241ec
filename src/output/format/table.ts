import { asciiOnly, safeLine } from '../terminal/safe-text.ts';
import type { Style } from '../terminal/style.ts';
import { head, padding, truncate, widthOf, wrap } from '../terminal/width.ts';
import type { CellKind, Column } from '../view.ts';
import { type Fitted, fitColumns, type WidthRequest } from './column-widths.ts';
import { valueIn } from './fields.ts';
import { formatCell, isRightAligned, scaleOf } from './format-cell.ts';
import type { Cell, FormatContext, Tone } from './printing.ts';
import { momentOf } from './time.ts';

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

interface LaidOut<T> extends WidthRequest {
  readonly column: Column<T>;
  readonly title: string;
  readonly cell: (record: T) => Cell;
  readonly suits: (record: T, width: number) => boolean;
}

const GAP = 2;
/** Text is printed below its row unless at least this many cells are free next to the other columns. */
const BESIDE = 72;

/** Other kinds are never cut, because a cut number looks like another number. */
const leastOf: Partial<Record<CellKind, number>> = { text: 8, handle: 8, link: 12, status: 8 };

/** The expected widths of cells, for a table that grows after its layout is chosen. */
const likely: Partial<Record<CellKind, number>> = {
  usd: 9,
  signedUsd: 10,
  percent: 8,
  integer: 9,
  number: 10,
  multiple: 6,
  age: 4,
  handle: 14,
  text: 12,
};

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
    const { kind, kindOf, rank = 0 } = column;
    const scale = scaleOf(column, records, context);
    const cell = (record: T) => formatCell(kindOf?.(record) ?? kind, valueIn(column, record), context, scale);
    const name = safeLine(scale?.clock ? `${column.title} (${scale.clock.zone})` : column.title);
    const title = context.unicode ? name : asciiOnly(name);
    const texts = records.map((record) => cell(record).text);
    const flexible = !wide && (column.wrap === true || column.below === true);
    let natural = widest([title, ...texts]);
    if (growing || records.length === 0) natural = Math.max(natural, likely[kind] ?? 0);
    if (growing && flexible) natural = Math.max(natural, room);
    const isNumeric = isRightAligned(kind);
    const isWhole = wide || column.whole === true;
    const isElastic = isWhole ? column.wrap && !wide : !isNumeric && kind !== 'time';
    const isAddress = kind === 'address' && !isWhole;
    const short = isAddress ? widest([title, ...texts.map((text) => shorten(text, ellipsis))]) : natural;
    const least = isElastic ? (column.min ?? (isWhole ? natural : leastOf[kind]) ?? short) : natural;
    return {
      ...{ column, title, cell, natural, short, rank },
      least: Math.min(least, short),
      suits(record, width) {
        const moment = scale?.clock && momentOf(valueIn(column, record));
        if (moment !== undefined) return scale?.clock?.covers(moment) ?? true;
        return !isNumeric || width < natural || widthOf(cell(record).text) <= width;
      },
    };
  };

  const all = columns.map(layOut);
  const mayDrop = !wide && !columns.some((column) => column.whole);
  let layout = fitColumns(all, wide ? Number.POSITIVE_INFINITY : room, GAP, mayDrop);
  let below = wide ? undefined : all.find(({ column }) => column.below);
  const beside = layout.find(({ column }) => column === below?.column);
  if (below && beside && beside.width >= Math.min(BESIDE, below.natural)) below = undefined;
  if (below)
    layout = fitColumns(
      all.filter((one) => one !== below),
      room,
      GAP,
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
  const line = (parts: readonly { fitted: Fitted<LaidOut<T>>; text: string; painted: string }[]): string => {
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

  const suits = (record: T): boolean => layout.every((fitted) => fitted.suits(record, fitted.width));

  return { head: top, row, suits };
}
