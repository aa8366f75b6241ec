import { asciiOnly, safeLine, safeText } from '../terminal/safe-text.ts';
import { truncate, widthOf, wrap } from '../terminal/width.ts';
import type { View } from '../view.ts';
import { valueIn } from './fields.ts';
import { formatCell } from './format-cell.ts';
import { grid } from './grid.ts';
import type { FormatContext, Tone } from './printing.ts';
import { createTable, type TableOptions } from './table.ts';

const MIN_BESIDE = 16;

interface Entry {
  readonly label: string;
  readonly tone: Tone;
  readonly whole: string;
}

/** One record with a line for each of its fields, and below them a table if the card has one. */
export function renderCard<T>(
  card: NonNullable<View<T>['card']>,
  record: T,
  options: TableOptions,
): string {
  const { style, context } = options;
  const room = Math.max(1, options.width);
  const title = wrap(shownIn(context, safeLine(card.title(record))), room);
  const parts = [
    ...title.map((line) => style('strong', line)),
    ...linesOf(entriesOf(card, record, context), room, options),
    ...tableOf(card, record, room, options),
  ];
  return `${parts.join('\n').replace(/[^\S\n]+$/gm, '')}\n`;
}

const shownIn = ({ unicode }: FormatContext, text: string): string =>
  unicode ? text : asciiOnly(text);

const indentIn = (room: number): string => (room > 20 ? '  ' : '');

function entriesOf<T>(
  { lines }: NonNullable<View<T>['card']>,
  record: T,
  context: FormatContext,
): readonly Entry[] {
  return lines.flatMap((entry) => {
    const { title, kind } = entry;
    const raw = valueIn(entry, record);
    if (raw === undefined) return [];
    const { text, tone } = formatCell(kind, raw, context);
    // Only text is printed in paragraphs.
    const isProse = kind === 'text' && typeof raw === 'string';
    const whole = isProse ? shownIn(context, safeText(raw)) : text;
    return [{ label: shownIn(context, safeLine(title)), tone, whole }];
  });
}

/** The entries beside their labels, or below them on a narrow terminal. */
function linesOf(
  entries: readonly Entry[],
  room: number,
  { style, context }: TableOptions,
): readonly string[] {
  const labels = entries.reduce((widest, { label }) => Math.max(widest, widthOf(label)), 0);
  const beside = room - labels - 4;
  if (beside < MIN_BESIDE) {
    const indent = indentIn(room);
    const ellipsis = context.unicode ? '…' : '..';
    return entries.flatMap(({ label, tone, whole }) => [
      style('dim', truncate(label, room, ellipsis)),
      ...wrap(whole, room - indent.length).map((line) => indent + style(tone, line)),
    ]);
  }
  const rows = entries.map(({ label, tone, whole }) => {
    const lines = wrap(whole, beside).map((line) => style(tone, line));
    return [style('dim', label), lines.join('\n')];
  });
  return grid(rows, {
    columns: [
      { width: labels, align: 'left' },
      { width: beside, align: 'left' },
    ],
    indent: '  ',
  });
}

function tableOf<T>(
  { table }: NonNullable<View<T>['card']>,
  record: T,
  room: number,
  { style, context }: TableOptions,
): readonly string[] {
  const rows = table?.rows(record) ?? [];
  if (!table || rows.length === 0) return [];
  const indent = indentIn(room);
  const look = { width: room - indent.length, style, context };
  const text = createTable(table.columns, rows, look).draw(rows, true);
  return ['', text.trimEnd().replace(/^(?=.)/gm, indent)];
}
