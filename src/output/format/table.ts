import { asciiOnly, safeLine } from '../terminal/safe-text.ts';
import type { Style } from '../terminal/style.ts';
import { head, padding, truncate, widthOf, wrap } from '../terminal/width.ts';
import type { CellKind, Column } from '../view.ts';
import type { Cell, FormatContext, Tone } from './cell.ts';
import { columnFormat } from './column-format.ts';
import { type FittedWidths, fitColumns, type WidthRequest } from './column-widths.ts';
import { rightAligned } from './format-cell.ts';

/** Options of a table. */
export interface TableOptions {
  readonly width: number;
  /** Whether every column is shown in full on one line, even if the line is wider than the terminal. */
  readonly wide?: boolean | undefined;
  readonly style: Style;
  /** A pattern whose matches are highlighted; it must have the flag `g`. */
  readonly highlight?: RegExp | undefined;
  readonly context: FormatContext;
}

/** A table with fixed column widths. */
export interface Table<T> {
  readonly head: () => string;
  readonly row: (record: T) => string;
  /**
   * Whether the format of the columns suits a record. If times omit the date because all were from today, the
   * format does not suit a record of another day.
   */
  readonly suits: (record: T) => boolean;
}

const BLANK: Cell = { forms: [''], tone: 'plain' };

const GAP = 2;
/** A comfortable width for long text. Text in narrower columns is hard to read. */
const READABLE = 40;
/**
 * Text that does not fit next to the other columns is printed below its row, unless at least this many cells
 * are free next to them.
 */
const BESIDE = 72;

/**
 * The minimum width of a column by kind. For other kinds, such as numbers and times, it is the full width of
 * their shortest variant, because a cut number looks like another number.
 */
const leastOf: Partial<Record<CellKind, number>> = { text: 8, handle: 8, link: 12, status: 8 };

/**
 * The expected widths of cells by kind, for a table to which rows are added after its layout is chosen, or
 * without rows: one width for each variant, longest first.
 */
const likely: Partial<Record<CellKind, readonly number[]>> = {
  usd: [9, 7],
  signedUsd: [10, 8],
  percent: [8],
  integer: [9, 6],
  number: [10, 7],
  multiple: [6],
  age: [4],
  handle: [14],
  text: [12],
};

/** Chooses the layout by the first records; `growing` reserves width for wider values in later records. */
export function createTable<T>(
  columns: readonly Column<T>[],
  records: readonly T[],
  options: TableOptions,
  growing = false,
): Table<T> {
  const { context, style, wide = false } = options;
  const room = Math.max(1, options.width);
  const ellipsis = context.unicode ? '…' : '..';
  const formats = new Map(columns.map((column) => [column, columnFormat(column, records, context)]));
  const cellOf = (column: Column<T>, record: T): Cell =>
    formats.get(column)?.cell(column.kindOf?.(record) ?? column.kind, column.value(record)) ?? BLANK;
  const titles = columns.map((column) => {
    const title = safeLine(column.title + (formats.get(column)?.unit ?? ''));
    return context.unicode ? title : asciiOnly(title);
  });
  const cells = records.map((record) => columns.map((column) => cellOf(column, record)));

  const requestOf = (column: Column<T>, index: number): WidthRequest => {
    const title = widthOf(titles[index] ?? '');
    const own = cells.map((row) => row[index]?.forms ?? []);
    const most = own.reduce((count, forms) => Math.max(count, forms.length), 0);
    // If a cell has fewer variants than other cells, its last variant stands for the missing ones.
    const forms = Array.from({ length: most }, (_, form) =>
      own.reduce((widest, texts) => Math.max(widest, widthOf(texts[form] ?? texts.at(-1) ?? '')), 0),
    );
    if (growing || forms.length === 0) {
      for (const [form, size] of (likely[column.kind] ?? [title]).entries()) {
        forms[form] = Math.max(forms[form] ?? 0, size);
      }
      if (growing && !wide && (column.wrap || column.below)) forms[0] = Math.max(forms[0] ?? 0, room);
    }
    const isWhole = wide || column.whole === true;
    if (isWhole) forms.splice(1);
    const shortest = forms.length > 0 ? Math.min(...forms) : 1;
    const least = isWhole
      ? column.wrap && !wide
        ? Math.min(shortest, column.min ?? shortest)
        : Math.max(shortest, title)
      : (column.min ?? leastOf[column.kind] ?? Math.max(shortest, title));
    const numeric = rightAligned.has(column.kind);
    // Before a column with several variants is cut, it uses its shorter variants, which lose less information.
    const ease =
      numeric || forms.length > 1 ? Number.POSITIVE_INFINITY : column.wrap || column.below ? READABLE : 20;
    const rank = column.rank ?? 0;
    const uncut = numeric || column.kind === 'time';
    return { forms, title, rank, ease, least: uncut ? Math.max(least, shortest) : least };
  };

  const requests = columns.map(requestOf);
  const isWhole = wide || columns.some((column) => column.whole);
  const under = wide ? -1 : columns.findIndex((column) => column.below);
  let layout = fitColumns(requests, wide ? Number.POSITIVE_INFINITY : room, GAP, !isWhole);
  const inline = layout.find((fitted) => fitted.index === under);
  const wanted = requests[under]?.forms[0] ?? 0;
  const below =
    under >= 0 && (!inline || inline.width < Math.min(BESIDE, wanted)) ? columns[under] : undefined;
  if (below) {
    const rest = columns.flatMap((_, index) => (index === under ? [] : [index]));
    const others = rest.flatMap((index) => requests[index] ?? []);
    layout = fitColumns(others, room, GAP).map((fitted) => ({ ...fitted, index: rest[fitted.index] ?? 0 }));
  }

  const linesOf = (column: Column<T>, cell: Cell, fitted: FittedWidths): string[] => {
    if (wide || column.whole) {
      const text = cell.forms[0] ?? '';
      return column.wrap && !wide ? wrap(text, fitted.width) : [text];
    }
    // A cell that is wider than those of the first records may need a shorter form than the one chosen for its column.
    const forms = cell.forms.slice(Math.min(fitted.form, cell.forms.length - 1));
    const text = forms.find((form) => widthOf(form) <= fitted.width) ?? forms.at(-1) ?? '';
    if (!column.wrap || widthOf(text) <= fitted.width)
      return [truncate(text, fitted.width, ellipsis).trimEnd()];
    return cutLines(wrap(text, fitted.width), column.lines, fitted.width);
  };

  const cutLines = (lines: string[], most: number | undefined, width: number): string[] => {
    if (most === undefined || lines.length <= most) return lines;
    const last = lines[most - 1] ?? '';
    const room = width - ellipsis.length;
    return [...lines.slice(0, most - 1), truncate(head(last, room).trimEnd() + ellipsis, width, ellipsis)];
  };

  /** Colors a text and highlights the matches of a search. */
  const paint = (column: Column<T> | undefined, tone: Tone, text: string): string => {
    if (!options.highlight || column?.kind !== 'text') return style(tone, text);
    let out = '';
    let end = 0;
    for (const { 0: found, index } of text.matchAll(options.highlight)) {
      if (found === '') continue;
      out += style(tone, text.slice(end, index)) + style('match', found);
      end = index + found.length;
    }
    return out + style(tone, text.slice(end));
  };

  const line = (parts: readonly { text: string; paint: string; fitted: FittedWidths }[]): string => {
    let out = '';
    let pendingPadding = '';
    for (const { text, paint, fitted } of parts) {
      const fill = padding(text, fitted.width);
      const right = rightAligned.has(columns[fitted.index]?.kind ?? 'text');
      // Pad a cell only if another cell follows, so that no line ends with blanks.
      if (text !== '') {
        out += pendingPadding + (right ? fill : '') + paint;
        pendingPadding = right ? '' : fill;
      } else pendingPadding += fill;
      pendingPadding += ' '.repeat(GAP);
    }
    return out;
  };

  const row = (record: T): string => {
    const shown = layout.map((fitted) => {
      const column = columns[fitted.index];
      const cell = column ? cellOf(column, record) : BLANK;
      return { fitted, cell, lines: column ? linesOf(column, cell, fitted) : [''] };
    });
    const height = Math.max(1, ...shown.map(({ lines }) => lines.length));
    const out: string[] = [];
    for (let at = 0; at < height; at++) {
      out.push(
        line(
          shown.map(({ fitted, cell, lines }) => {
            const text = lines[at] ?? '';
            return { fitted, text, paint: paint(columns[fitted.index], cell.tone, text) };
          }),
        ),
      );
    }
    if (below) {
      const cell = cellOf(below, record);
      const text = cell.forms[0] ?? '';
      const indent = room > 20 ? '  ' : '';
      const lines = cutLines(wrap(text, room - indent.length), below.lines, room - indent.length);
      const value = below.value(record);
      if (value !== null && value !== undefined && text.trim() !== '')
        out.push(...lines.map((part) => indent + paint(below, cell.tone, part)));
    }
    return `${out.join('\n')}\n`;
  };

  const top = (): string => {
    const parts = layout.map((fitted) => {
      const text = truncate(titles[fitted.index] ?? '', fitted.width, ellipsis).trimEnd();
      return { fitted, text, paint: style('strong', text) };
    });
    const mark = context.unicode ? '─' : '-';
    const rule = layout.map(({ width }) => mark.repeat(width)).join(' '.repeat(GAP));
    return `${line(parts)}\n${style('dim', rule)}\n`;
  };

  const suits = (record: T): boolean =>
    columns.every((column) => formats.get(column)?.suits(column.value(record)) ?? true);

  return { head: top, row, suits };
}
