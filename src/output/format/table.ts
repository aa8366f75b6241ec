import { asciiOnly, safeLine } from '../terminal/safe-text.ts';
import type { Style } from '../terminal/style.ts';
import { head, padding, truncate, widthOf, wrap } from '../terminal/width.ts';
import type { CellKind, Column } from '../view.ts';
import type { Cell, FormatContext, Tone } from './cell.ts';
import { columnFormat } from './column-format.ts';
import { type FittedWidths, fitColumns, type WidthRequest } from './column-widths.ts';
import { rightAligned } from './format-cell.ts';

/** What a table needs to know of the terminal. */
export interface TableOptions {
  readonly width: number;
  /** Shows every column in full, on one line, whatever the width. */
  readonly wide?: boolean | undefined;
  readonly style: Style;
  /** With the flag `g`. */
  readonly highlight?: RegExp | undefined;
  readonly context: FormatContext;
}

/** A table whose widths are settled: its head, and rows as they come. */
export interface Table<T> {
  readonly head: () => string;
  readonly row: (record: T) => string;
  /** Whether a record can be shown under this head: its day may not be the one that the times leave out. */
  readonly suits: (record: T) => boolean;
}

const BLANK: Cell = { forms: [''], tone: 'plain' };

const GAP = 2;
/** Narrower than this, a text is hard to read. */
const READABLE = 40;
/** A text goes under its row until it fits beside the other columns, or gets as much as this. */
const BESIDE = 72;

/** The least that a column of a kind bears. Numbers and times are never cut: a cut number is a wrong number. */
const leastOf: Partial<Record<CellKind, number>> = { text: 8, handle: 8, link: 12, status: 8 };

/** What a kind is likely to need when only the first rows are known. */
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

/** Settles the layout from the first records; `growing` leaves room for what may still come. */
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

  const wantOf = (column: Column<T>, index: number): WidthRequest => {
    const title = widthOf(titles[index] ?? '');
    const own = cells.map((row) => row[index]?.forms ?? []);
    const most = own.reduce((count, forms) => Math.max(count, forms.length), 0);
    // A cell with fewer forms than others keeps its last one.
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
    // What has several forms is shortened rather than cut.
    const ease =
      numeric || forms.length > 1 ? Number.POSITIVE_INFINITY : column.wrap || column.below ? READABLE : 20;
    const rank = column.rank ?? 0;
    const uncut = numeric || column.kind === 'time';
    return { forms, title, rank, ease, least: uncut ? Math.max(least, shortest) : least };
  };

  const wants = columns.map(wantOf);
  const isWhole = wide || columns.some((column) => column.whole);
  const under = wide ? -1 : columns.findIndex((column) => column.below);
  let layout = fitColumns(wants, wide ? Number.POSITIVE_INFINITY : room, GAP, !isWhole);
  const inline = layout.find((got) => got.index === under);
  const wanted = wants[under]?.forms[0] ?? 0;
  const below =
    under >= 0 && (!inline || inline.width < Math.min(BESIDE, wanted)) ? columns[under] : undefined;
  if (below) {
    const rest = columns.flatMap((_, index) => (index === under ? [] : [index]));
    const others = rest.flatMap((index) => wants[index] ?? []);
    layout = fitColumns(others, room, GAP).map((got) => ({ ...got, index: rest[got.index] ?? 0 }));
  }

  const linesOf = (column: Column<T>, cell: Cell, got: FittedWidths): string[] => {
    if (wide || column.whole) {
      const text = cell.forms[0] ?? '';
      return column.wrap && !wide ? wrap(text, got.width) : [text];
    }
    // The fullest form that fits from the column's own form on: a cell wider than the first ones were is shortened.
    const forms = cell.forms.slice(Math.min(got.form, cell.forms.length - 1));
    const text = forms.find((form) => widthOf(form) <= got.width) ?? forms.at(-1) ?? '';
    if (!column.wrap || widthOf(text) <= got.width) return [truncate(text, got.width, ellipsis).trimEnd()];
    return cutLines(wrap(text, got.width), column.lines, got.width);
  };

  const cutLines = (lines: string[], most: number | undefined, width: number): string[] => {
    if (most === undefined || lines.length <= most) return lines;
    const last = lines[most - 1] ?? '';
    const room = width - ellipsis.length;
    return [...lines.slice(0, most - 1), truncate(head(last, room).trimEnd() + ellipsis, width, ellipsis)];
  };

  /** A text with what a search found in it marked. */
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

  const line = (parts: readonly { text: string; paint: string; got: FittedWidths }[]): string => {
    let out = '';
    let owed = '';
    for (const { text, paint, got } of parts) {
      const fill = padding(text, got.width);
      const right = rightAligned.has(columns[got.index]?.kind ?? 'text');
      // Blanks are owed until something follows, so that no line ends in them.
      if (text !== '') {
        out += owed + (right ? fill : '') + paint;
        owed = right ? '' : fill;
      } else owed += fill;
      owed += ' '.repeat(GAP);
    }
    return out;
  };

  const row = (record: T): string => {
    const shown = layout.map((got) => {
      const column = columns[got.index];
      const cell = column ? cellOf(column, record) : BLANK;
      return { got, cell, lines: column ? linesOf(column, cell, got) : [''] };
    });
    const height = Math.max(1, ...shown.map(({ lines }) => lines.length));
    const out: string[] = [];
    for (let at = 0; at < height; at++) {
      out.push(
        line(
          shown.map(({ got, cell, lines }) => {
            const text = lines[at] ?? '';
            return { got, text, paint: paint(columns[got.index], cell.tone, text) };
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
    const parts = layout.map((got) => {
      const text = truncate(titles[got.index] ?? '', got.width, ellipsis).trimEnd();
      return { got, text, paint: style('strong', text) };
    });
    const mark = context.unicode ? '─' : '-';
    const rule = layout.map(({ width }) => mark.repeat(width)).join(' '.repeat(GAP));
    return `${line(parts)}\n${style('dim', rule)}\n`;
  };

  const suits = (record: T): boolean =>
    columns.every((column) => formats.get(column)?.suits(column.value(record)) ?? true);

  return { head: top, row, suits };
}
