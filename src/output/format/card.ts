import Table from 'cli-table3';
import { asciiOnly, safeLine, safeText } from '../terminal/safe-text.ts';
import { truncate, widthOf, wrap } from '../terminal/width.ts';
import type { Column, View } from '../view.ts';
import { formatCell } from './format-cell.ts';
import { createTable, type TableOptions } from './table.ts';

/** No lines around or between: the alignment alone makes the card. */
const bare = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

/** Less than this beside the labels, and the values go under them. */
const BESIDE = 16;

/** One record by itself: a title, and a line for each thing there is to say. */
export function renderCard<T>(
  card: NonNullable<View<T>['card']>,
  record: T,
  { width, style, context }: TableOptions,
): string {
  const room = Math.max(1, width);
  const shown = (text: string) => (context.unicode ? text : asciiOnly(text));
  const ellipsis = context.unicode ? '…' : '..';

  const entries = card.lines.flatMap(({ label, kind, value }) => {
    const raw = value(record);
    if (raw === undefined) return [];
    const cell = formatCell(kind, raw, context, true);
    // Text alone keeps its paragraphs; an address is broken rather than shortened, for it is here to be copied.
    const paragraphs = kind === 'text' && typeof raw === 'string' ? shown(safeText(raw)) : undefined;
    const whole = kind === 'address' ? cell.forms[0] : paragraphs;
    return [{ label: shown(safeLine(label)), kind, cell, whole }];
  });
  const labels = entries.reduce((widest, { label }) => Math.max(widest, widthOf(label)), 0);
  const beside = room - labels - 4;
  const stacked = beside < BESIDE;
  const indent = room > 20 ? '  ' : '';
  const space = stacked ? room - indent.length : beside;

  const fits = (forms: readonly string[]) => {
    const found = forms.findIndex((form) => widthOf(form) <= space);
    return found < 0 ? forms.length - 1 : found;
  };
  // Meters are compared by eye, so that all take the form that fits them all.
  const meters = Math.max(0, ...entries.map(({ kind, cell }) => (kind === 'meter' ? fits(cell.forms) : 0)));

  const layout = new Table({
    chars: bare,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
  });
  const stack: string[] = [];
  for (const { label, kind, cell, whole } of entries) {
    const form = kind === 'meter' ? meters : fits(cell.forms);
    const text = whole ?? cell.forms[form] ?? cell.forms.at(-1) ?? '';
    const lines = wrap(text, space).map((line) => style(cell.tone, line));
    if (stacked)
      stack.push(style('dim', truncate(label, room, ellipsis)), ...lines.map((line) => indent + line));
    else layout.push([`  ${style('dim', label)}`, lines.join('\n')]);
  }

  const title = wrap(shown(safeLine(card.title(record))), room).map((line) => style('strong', line));
  const body = stacked ? stack.join('\n') : layout.toString();
  const parts = [title.join('\n'), ...(entries.length > 0 ? [body] : [])];
  if (card.table) {
    const columns = card.table.titles.map(
      ({ title: name, kind }, index): Column<readonly unknown[]> => ({
        title: name,
        kind,
        value: (row) => row[index],
        rank: index,
      }),
    );
    const rows = card.table.rows(record);
    if (rows.length > 0) {
      const table = createTable(columns, rows, { width: room - indent.length, style, context });
      const text = table.head() + rows.map(table.row).join('');
      parts.push('', text.trimEnd().replace(/^(?=.)/gm, indent));
    }
  }
  return `${parts
    .join('\n')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')}\n`;
}
