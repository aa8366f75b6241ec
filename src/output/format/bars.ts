import { isRecord } from '../../base/json-object.ts';
import type { Cell, FormatContext, Tone } from './cell.ts';
import { grouped } from './numbers.ts';

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
const levels = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const asciiLevels = ['_', '.', '-', '=', '+', '*', '#', '@'];

const finite = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** A bar of `width` cells that is filled to `share`: `████▌░░░`, or `####....` in ASCII. */
export function bar(share: number, width: number, unicode = true): string {
  const full = Math.min(1, Math.max(0, Number.isFinite(share) ? share : 0)) * width;
  if (!unicode) {
    const cells = share > 0 ? Math.max(1, Math.floor(full)) : 0;
    return '#'.repeat(cells) + '.'.repeat(width - cells);
  }
  // Round down, so that only a share of 1 fills the bar. Draw at least an eighth of a cell for every share
  // above 0.
  const parts = share > 0 ? Math.max(1, Math.floor(full * 8)) : 0;
  const drawn = '█'.repeat(Math.floor(parts / 8)) + (eighths[parts % 8] ?? '');
  return drawn + '░'.repeat(width - drawn.length);
}

/** Draws a list of numbers as a sparkline; values that are not numbers leave a gap. */
function sparkline(values: readonly unknown[], unicode: boolean): string {
  const known = values.filter(finite);
  const low = known.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const high = known.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  const steps = unicode ? levels : asciiLevels;
  return values
    .map((value) => {
      if (!finite(value)) return ' ';
      const height = high > low ? (value - low) / (high - low) : 0.5;
      return steps[Math.min(7, Math.floor(height * 8))] ?? '';
    })
    .join('');
}

/** The color of a meter, by the share that is used. */
const usageTone = (share: number): Tone => (share >= 0.95 ? 'bad' : share >= 0.8 ? 'warn' : 'good');

/**
 * Draws a used amount and its limit, `{ used, of }`, as a bar with figures; without a bar if there is no
 * limit. Undefined for any other value.
 */
export function meter(value: unknown, { unicode }: FormatContext): Cell | undefined {
  if (!isRecord(value) || !finite(value['used'])) return undefined;
  const { used, of } = value;
  const figure = (amount: number) => (amount < 0 ? '-' : '') + grouped(Math.abs(amount));
  if (!finite(of)) return { forms: [`${figure(used)}, no limit`, figure(used)], tone: 'plain' };
  const share = of > 0 ? used / of : used > 0 ? 1 : 0;
  const percent = `${share > 0 && share < 0.01 ? '<1' : Math.floor(share * 100)}%`;
  const figures = `${figure(used)} of ${figure(of)}`;
  return {
    forms: [
      `${bar(share, 24, unicode)} ${percent.padStart(4)}  ${figures}`,
      `${bar(share, 10, unicode)} ${percent.padStart(4)}  ${figures}`,
      `${percent}  ${figures}`,
      percent,
    ],
    tone: usageTone(share),
  };
}

/** Draws a list of numbers as a sparkline; undefined for any other value. */
export function spark(value: unknown, { unicode }: FormatContext): Cell | undefined {
  return Array.isArray(value) ? { forms: [sparkline(value, unicode)], tone: 'accent' } : undefined;
}

/** Draws a value from -1 to 1 as a bar next to an axis: to its left for a loss, to its right for a gain. */
export function signedBarCell(value: unknown, { unicode }: FormatContext): Cell | undefined {
  if (!finite(value)) return undefined;
  const axis = unicode ? '│' : '|';
  const drawn = (half: number) => {
    if (value >= 0) return ' '.repeat(half) + axis + bar(value, half, unicode).replace(/[░.]+$/, '');
    // Unicode has blocks that fill any number of eighths of a cell from the left, but from the right only a
    // block that fills half a cell.
    const halves = Math.max(1, Math.round(Math.min(1, -value) * half * 2));
    const full = (unicode ? '█' : '#').repeat(Math.floor(halves / 2));
    const part = halves % 2 === 0 ? '' : unicode ? '▐' : full === '' ? '#' : '';
    return (part + full).padStart(half) + axis;
  };
  return { forms: [drawn(10), drawn(6), drawn(3)], tone: value < 0 ? 'bad' : 'good' };
}

/** Draws a value from -1 to 1 as a bar: its length shows the amount, its color the sign. */
export function barCell(value: unknown, { unicode }: FormatContext): Cell | undefined {
  if (!finite(value)) return undefined;
  const drawn = (width: number) => bar(Math.abs(value), width, unicode).replace(/[░.]+$/, '');
  return { forms: [drawn(20), drawn(10), drawn(5)], tone: value < 0 ? 'bad' : 'good' };
}

/** Shows ranks gained or lost, with an arrow. Undefined for words other than `new`, such as `left #94`. */
export function move(value: unknown, { unicode }: FormatContext): Cell | undefined {
  if (value === 'new') return { forms: ['new'], tone: 'accent' };
  if (!finite(value)) return undefined;
  if (value === 0) return { forms: ['='], tone: 'dim' };
  const [mark, tone] = value > 0 ? (['▲', 'good'] as const) : (['▼', 'bad'] as const);
  const sign = unicode ? `${mark} ` : value > 0 ? '+' : '-';
  return { forms: [`${sign}${Math.abs(value)}`], tone };
}
