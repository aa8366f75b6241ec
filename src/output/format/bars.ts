import { isRecord } from '../../base/json-object.ts';
import { grouped } from './numbers.ts';
import type { Cell } from './printing.ts';

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

const LENGTH = { bar: 10, meter: 12 } as const;

const finite = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** `████▌░░░`, or `####....` in ASCII. */
export function gauge(share: number, width: number, unicode = true): string {
  const full = Math.min(1, Math.max(0, Number.isFinite(share) ? share : 0)) * width;
  if (!unicode) {
    const cells = share > 0 ? Math.max(1, Math.floor(full)) : 0;
    return '#'.repeat(cells) + '.'.repeat(width - cells);
  }
  // Only a share of 1 fills the gauge, and every share above 0 shows at least an eighth of a cell.
  const parts = share > 0 ? Math.max(1, Math.floor(full * 8)) : 0;
  const drawn = '█'.repeat(Math.floor(parts / 8)) + (eighths[parts % 8] ?? '');
  return drawn + '░'.repeat(width - drawn.length);
}

/** `{ used, of }` as a gauge with figures; without a gauge if there is no limit. */
export function meter(value: unknown, unicode: boolean): Cell | undefined {
  if (!isRecord(value) || !finite(value['used'])) return undefined;
  const { used, of } = value;
  const figure = (amount: number) => (amount < 0 ? '-' : '') + grouped(Math.abs(amount));
  if (!finite(of)) return { text: `${figure(used)}, no limit`, tone: 'plain' };
  const share = of > 0 ? used / of : used > 0 ? 1 : 0;
  const percent = `${share > 0 && share < 0.01 ? '<1' : Math.floor(share * 100)}%`;
  return {
    text: `${gauge(share, LENGTH.meter, unicode)} ${percent.padStart(4)}  ${figure(used)} of ${figure(of)}`,
    tone: share >= 0.95 ? 'bad' : share >= 0.8 ? 'warn' : 'good',
  };
}

/** `value` is from -1 to 1. With an axis, losses are to its left and gains to its right. */
export function bar(value: number, hasAxis: boolean, unicode: boolean): Cell {
  const tone = value < 0 ? 'bad' : 'good';
  const drawn = (width: number) => gauge(Math.abs(value), width, unicode).replace(/[░.]+$/, '');
  if (!hasAxis) return { text: drawn(LENGTH.bar), tone };
  const half = LENGTH.bar / 2;
  const axis = unicode ? '│' : '|';
  if (value >= 0) return { text: ' '.repeat(half) + axis + drawn(half), tone };
  // From the right, Unicode only has a block that fills half a cell.
  const halves = Math.max(1, Math.round(Math.min(1, -value) * half * 2));
  const full = (unicode ? '█' : '#').repeat(Math.floor(halves / 2));
  const part = halves % 2 === 0 ? '' : unicode ? '▐' : full === '' ? '#' : '';
  return { text: (part + full).padStart(half) + axis, tone };
}

/** Undefined for words other than `new`, such as `left #94`. */
export function move(value: unknown, unicode: boolean): Cell | undefined {
  if (value === 'new') return { text: 'new', tone: 'accent' };
  if (!finite(value)) return undefined;
  if (value === 0) return { text: '=', tone: 'dim' };
  const [mark, tone] = value > 0 ? (['▲', 'good'] as const) : (['▼', 'bad'] as const);
  const sign = unicode ? `${mark} ` : value > 0 ? '+' : '-';
  return { text: `${sign}${Math.abs(value)}`, tone };
}
