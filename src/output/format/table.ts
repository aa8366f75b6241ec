import { asciiOnly, safeLine } from '../terminal/safe-text.ts';
import type { Style } from '../terminal/style.ts';
import { truncate, widthOf, wrap } from '../terminal/width.ts';
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
  /** All rows of a call have the same widths; so do those of later calls, unless a cell that must not be cut is wider. */
  readonly draw: (records: readonly T[], hasHead: boolean) => string;
  /** Whether the columns are wide enough for the numbers of a record. */
  readonly suits: (record: T) => boolean;
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
/** Text is printed below its row unless at least this many cells are free next to the other columns. */
const BESIDE = 72;

/** Other kinds are never cut, because a cut number looks like another number. */
const mayBeCut = new Set<CellKind>(['text', 'handle', 'link', 'status']);
const LEAST_TEXT = 8;

/** The expected widths of cells, for a table that grows after its layout is chosen. */
const LIKELY = { number: 10, text: 14 } as const;

const widest = (texts: readonly string[]) =>
  texts.reduce((most, text) => Math.max(most, widthOf(text)), 1);

/** `growing` reserves width for wider values in later records. */
export function createTable<T>(
  given: readonly Column<T>[],
  records: readonly T[],
  options: TableOptions,
  growing = false,
): Table<T> {
  const { context, style, wide } = options;
  const whole = { whole: true, wrap: false, below: false };
  const columns = wide ? given.map((column) => ({ ...column, ...whole })) : given;
  const room = Math.max(1, options.width);
  const ellipsis = context.unicode ? '…' : '..';

  const layOut = (column: Column<T>): LaidOut<T> => {
    const { kind, kindOf } = column;
    const scale = scaleOf(column, records);
    const cell = (record: T) =>
      formatCell(kindOf?.(record) ?? kind, valueIn(column, record), context, scale);
    const zone = kind === 'time' ? ` (${zoneText(context.now(), context.utc)})` : '';
    const name = safeLine(column.title + zone);
    const title = context.unicode ? name : asciiOnly(name);
    const texts = records.map((record) => cell(record).text);
    const isRight = isRightAligned(kind);
    let natural = widest([title, ...texts]);
    if (growing || records.length === 0) {
      if (isRight) natural = Math.max(natural, LIKELY.number);
      if (kind === 'text' || kind === 'handle') natural = Math.max(natural, LIKELY.text);
      if (growing && (column.wrap || column.below)) natural = Math.max(natural, room);
    }
    const short =
      kind === 'address' && !column.whole
        ? widest([title, ...texts.map((text) => shortAddress(text, ellipsis))])
        : natural;
    const isElastic = !isRight && (!column.whole || column.wrap);
    const min = column.min ?? (mayBeCut.has(kind) && !column.whole ? LEAST_TEXT : short);
    const least = isElastic ? Math.min(min, short) : natural;
    return { column, title, cell, natural, short, least, width: natural };
  };

  const all = columns.map(layOut);
  let layout = fitColumns(all, room, !columns.some((column) => column.whole));
  let below = all.find(({ column }) => column.below);
  const beside = layout.find(({ column }) => column === below?.column);
  if (below && beside && beside.width >= Math.min(BESIDE, below.natural)) below = undefined;
  const others = all.filter((one) => one !== below);
  if (below) layout = fitColumns(others, room, true);

  const wrapped = (text: string, width: number, most = Number.POSITIVE_INFINITY): string[] => {
    const lines = wrap(text, width);
    if (lines.length <= most) return lines;
    return [
      ...lines.slice(0, most - 1),
      truncate(lines.slice(most - 1).join(' '), width, ellipsis),
    ];
  };

  const linesOf = (
    { wrap: wraps, whole: isWhole, lines, kind }: Column<T>,
    text: string,
    width: number,
  ) => {
    if (wraps) return wrapped(text, width, lines);
    if (isWhole) return [text];
    const isShort = kind === 'address' && widthOf(text) > width;
    return [truncate(isShort ? shortAddress(text, ellipsis) : text, width, ellipsis).trimEnd()];
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

  const cellsOf = (record: T): GridCell[] =>
    layout.map(({ column, cell, width }) => {
      const { text, tone } = cell(record);
      const lines = linesOf(column, text, width);
      return {
        width: Math.max(...lines.map(widthOf)),
        height: lines.length,
        text: lines.map((part) => paint(column, tone, part)).join('\n'),
      };
    });

  const linesBelow = (record: T): string[] => {
    if (!below) return [];
    const { column } = below;
    const { text, tone } = below.cell(record);
    if ((valueIn(column, record) ?? '') === '' || text.trim() === '') return [];
    const indent = room > 20 ? '  ' : '';
    return wrapped(text, room - indent.length, column.lines).map(
      (part) => indent + paint(column, tone, part),
    );
  };

  const gridColumns = (rows: readonly GridCell[][]): GridColumn[] =>
    layout.map(({ column, width }, at) => ({
      // A column that is shown whole may be wider in this row than in those that set its width.
      width: rows.reduce((most, row) => Math.max(most, row[at]?.width ?? 0), width),
      align: isRightAligned(column.kind) ? 'right' : 'left',
    }));

  const head = {
    titles: layout.map(({ title, width }) =>
      style('strong', truncate(title, width, ellipsis).trimEnd()),
    ),
    rule: context.unicode ? '─' : '-',
  };

  const draw = (shown: readonly T[], hasHead: boolean): string => {
    const rows = shown.map(cellsOf);
    const columns = gridColumns(rows);
    const texts = rows.map((row) => row.map(({ text }) => text));
    const lines = grid(texts, hasHead ? { columns, head } : { columns });
    const out: string[] = [];
    if (hasHead) {
      const [titles = '', rule = ''] = lines.splice(0, 2);
      out.push(titles, style('dim', rule));
    }
    for (const [at, row] of rows.entries()) {
      const height = row.reduce((most, cell) => Math.max(most, cell.height), 1);
      out.push(...lines.splice(0, height), ...linesBelow(shown[at] as T));
    }
    return out.map((line) => `${line}\n`).join('');
  };

  const suits = (record: T): boolean =>
    layout.every(
      ({ column, cell, width, natural }) =>
        !isRightAligned(column.kind) || width < natural || widthOf(cell(record).text) <= width,
    );

  return { draw, suits };
}

/** Shortens addresses, cuts texts to their minimum, drops columns by rank, and then cuts those of rank 0 further. */
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
