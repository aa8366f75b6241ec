import { asciiOnly, safeLine, safeText } from '../terminal/safe-text.ts';
import { truncate, widthOf, wrap } from '../terminal/width.ts';
import type { View } from '../view.ts';
import { valueIn } from './fields.ts';
import { formatCell } from './format-cell.ts';
import { grid } from './grid.ts';
import { createTable, type TableOptions } from './table.ts';

const MIN_BESIDE = 16;

export function renderCard<T>(
  card: NonNullable<View<T>['card']>,
  record: T,
  { width, style, context }: TableOptions,
): string {
  const room = Math.max(1, width);
  const shown = (text: string) => (context.unicode ? text : asciiOnly(text));
  const ellipsis = context.unicode ? '…' : '..';

  const entries = card.lines.flatMap((entry) => {
    const { title: label, kind } = entry;
    const raw = valueIn(entry, record);
    if (raw === undefined) return [];
    const { text, tone } = formatCell(kind, raw, context);
    // Only text is printed in paragraphs.
    const whole = kind === 'text' && typeof raw === 'string' ? shown(safeText(raw)) : text;
    return [{ label: shown(safeLine(label)), tone, whole }];
  });
  const labels = entries.reduce((widest, { label }) => Math.max(widest, widthOf(label)), 0);
  const beside = room - labels - 4;
  const stacked = beside < MIN_BESIDE;
  const indent = room > 20 ? '  ' : '';
  const space = stacked ? room - indent.length : beside;

  const stackedLines = () =>
    entries.flatMap(({ label, tone, whole }) => [
      style('dim', truncate(label, room, ellipsis)),
      ...wrap(whole, space).map((line) => indent + style(tone, line)),
    ]);
  const besideLines = () =>
    grid(
      entries.map(({ label, tone, whole }) => {
        const lines = wrap(whole, space).map((line) => style(tone, line));
        return [style('dim', label), lines.join('\n')];
      }),
      {
        columns: [
          { width: labels, align: 'left' },
          { width: space, align: 'left' },
        ],
        indent: '  ',
      },
    );
  const body = stacked ? stackedLines() : besideLines();
  const title = wrap(shown(safeLine(card.title(record))), room).map((line) =>
    style('strong', line),
  );
  const parts = [...title, ...body];
  if (card.table) {
    const rows = card.table.rows(record);
    if (rows.length > 0) {
      const table = createTable(card.table.columns, rows, {
        width: room - indent.length,
        style,
        context,
      });
      const text = table.draw(rows, true);
      parts.push('', text.trimEnd().replace(/^(?=.)/gm, indent));
    }
  }
  return `${parts.join('\n').replace(/[^\S\n]+$/gm, '')}\n`;
}
