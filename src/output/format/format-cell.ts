import { stringifyJson } from '../../base/json.ts';
import { isNumber, isRecord } from '../../base/json-object.ts';
import { group } from '../../base/units.ts';
import { atHandle } from '../../contract/handles.ts';
import { listOf, numberOf } from '../../contract/read-record.ts';
import { asciiOnly, safeLine } from '../terminal/safe-text.ts';
import type { CellKind, Column } from '../view.ts';
import { valueIn } from './fields.ts';
import type { Cell, FormatContext, Tone } from './printing.ts';
import { momentOf, tableTime, timeText } from './time.ts';

/**
 * What the cells of a column have in common. With a scale, the offset of times is in the header.
 */
interface ColumnScale {
  readonly decimals?: number | undefined;
  readonly largest?: number;
  readonly hasLosses?: boolean;
  readonly hasYears?: boolean;
}

/** The value between a loss and a gain, for kinds with a color. */
const numberKinds: Readonly<Record<NumberKind, number | undefined>> = {
  usd: undefined,
  signedUsd: 0,
  percent: 0,
  number: undefined,
  integer: undefined,
  multiple: 1,
};

const isNumberKind = (kind: CellKind): kind is NumberKind => Object.hasOwn(numberKinds, kind);

export const isRightAligned = (kind: CellKind): boolean => isNumberKind(kind) || kind === 'time';

export function scaleOf<T>(column: Column<T>, records: readonly T[]): ColumnScale {
  const { kind } = column;
  const numbers = records.map((record) => valueIn(column, record)).filter(isNumber);
  return {
    largest: numbers.reduce((greatest, number) => Math.max(greatest, Math.abs(number)), 0),
    hasLosses: numbers.some((number) => number < 0),
    ...(isNumberKind(kind) &&
      !column.kindOf && { decimals: decimalsFor(kind, numbers.map(Math.abs)) }),
  };
}

const statusTones: readonly (readonly [RegExp, Tone])[] = [
  [/^(?:found|ok|complete)\b/, 'good'],
  [/^(?:fail|failed|changed|gaps)\b/, 'bad'],
  [/^(?:queued|pending|timeout|unavailable|rate_limited|not_ingested|warn)\b/, 'warn'],
  [/^(?:none|not|no|no_preview|skip)\b/, 'dim'],
];

const marks: Partial<Record<Tone, readonly [string, string]>> = {
  good: ['✓', '+'],
  bad: ['✗', 'x'],
  warn: ['…', '~'],
  dim: ['·', '-'],
};

function status(text: string, { unicode }: FormatContext): Cell {
  const tone = statusTones.find(([words]) => words.test(text))?.[1] ?? 'plain';
  const mark = marks[tone]?.[unicode ? 0 : 1];
  return { text: mark ? `${mark} ${text}` : text, tone };
}

function plainText(value: unknown, unicode: boolean): string {
  // JSON cannot represent NaN and Infinity.
  const text =
    typeof value === 'string' || typeof value === 'number' ? String(value) : stringifyJson(value);
  const line = safeLine(text);
  return unicode ? line : asciiOnly(line);
}

function numberCell(kind: NumberKind, value: number, unicode: boolean, scale?: ColumnScale): Cell {
  const text = numberText(kind, value, unicode ? '×' : 'x', scale?.decimals);
  return { text, tone: numberTone(value, numberKinds[kind]) };
}

/** Colors show on which side of `even` a number is, such as a gain or a loss. */
function numberTone(value: number, even: number | undefined): Tone {
  if (even === undefined || value === even) return 'plain';
  return value < even ? 'bad' : 'good';
}

const isDrawn = (kind: CellKind): boolean =>
  kind === 'bar' || kind === 'trend' || kind === 'activity';

/** Next to the dash or the text of its number, a drawing has nothing to add. */
function absentCell(kind: CellKind, unicode: boolean): Cell {
  if (isDrawn(kind)) return { text: '', tone: 'dim' };
  return { text: unicode ? '—' : '-', tone: 'dim' };
}

/**
 * A value of another type than its kind is text. Without a scale, it has its own precision and
 * offset.
 */
export function formatCell(
  kind: CellKind,
  value: unknown,
  context: FormatContext,
  scale?: ColumnScale,
): Cell {
  const { unicode } = context;
  if (value === null || value === undefined) return absentCell(kind, unicode);
  if (isNumberKind(kind) && isNumber(value)) return numberCell(kind, value, unicode, scale);
  const moment = kind === 'time' ? momentOf(value) : undefined;
  if (moment !== undefined) {
    const { utc, now } = context;
    const time = scale ? tableTime(moment, now(), utc, scale.hasYears) : timeText(moment, utc);
    return { text: time, tone: 'dim' };
  }
  const text = plainText(value, unicode);
  switch (kind) {
    case 'meter':
      return meter(value, context) ?? { text, tone: 'plain' };
    case 'bar':
      if (!isNumber(value)) return absentCell(kind, unicode);
      return bar(value / (scale?.largest || 1), scale?.hasLosses ?? false, context);
    case 'trend':
      return trend(listOf(value).map(numberOf), context);
    case 'activity':
      return trend(listOf(value).map(numberOf), context, 'integer');
    case 'move':
      return move(value, unicode) ?? { text, tone: 'plain' };
    case 'flag':
      if (typeof value !== 'boolean') return { text, tone: 'plain' };
      return value
        ? { text: unicode ? '✓ yes' : 'yes', tone: 'good' }
        : { text: 'no', tone: 'dim' };
    case 'handle':
      if (typeof value !== 'string') return { text, tone: 'plain' };
      return { text: atHandle(text), tone: 'accent' };
    case 'status':
      return status(text, context);
    default:
      return { text, tone: kind === 'link' ? 'dim' : 'plain' };
  }
}

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

const LENGTH = { bar: 10, meter: 12, trend: 24 } as const;

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
function meter(value: unknown, { unicode, words }: FormatContext): Cell | undefined {
  if (!isRecord(value) || !isNumber(value['used'])) return undefined;
  const { used, of } = value;
  const figure = (amount: number) => (amount < 0 ? '-' : '') + grouped(Math.abs(amount));
  if (!isNumber(of)) return { text: `${figure(used)}, no limit`, tone: 'plain' };
  const share = shareOf(used, of);
  const percent = `${share > 0 && share < 0.01 ? '<1' : Math.floor(share * 100)}%`;
  const figures = `${figure(used)} of ${figure(of)}`;
  const drawn = `${gauge(share, LENGTH.meter, unicode)} ${percent.padStart(4)}  ${figures}`;
  return { text: words ? `${percent}, ${figures}` : drawn, tone: meterTone(share) };
}

/** A limit of 0 is used up by any amount. */
function shareOf(used: number, limit: number): number {
  if (limit > 0) return used / limit;
  return used > 0 ? 1 : 0;
}

function meterTone(share: number): Tone {
  if (share >= 0.95) return 'bad';
  return share >= 0.8 ? 'warn' : 'good';
}

/** `value` is from -1 to 1. With an axis, losses are to its left and gains to its right. */
function bar(value: number, hasAxis: boolean, { unicode, words }: FormatContext): Cell {
  const tone = value < 0 ? 'bad' : 'good';
  if (words) return { text: `${Math.round(value * 100)}% of the largest`, tone };
  const drawn = (width: number) => gauge(Math.abs(value), width, unicode).replace(/[░.]+$/, '');
  if (!hasAxis) return { text: drawn(LENGTH.bar), tone };
  const half = LENGTH.bar / 2;
  const axis = unicode ? '│' : '|';
  if (value >= 0) return { text: ' '.repeat(half) + axis + drawn(half), tone };
  // From the right, Unicode only has a block that fills half a cell.
  const halves = Math.max(1, Math.round(Math.min(1, -value) * half * 2));
  const full = (unicode ? '█' : '#').repeat(Math.floor(halves / 2));
  const part = halves % 2 === 0 ? '' : halfBlock(unicode, full);
  return { text: (part + full).padStart(half) + axis, tone };
}

const levels = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;
const FLAT = levels[3];

/**
 * `▁▃ ▅█`, from the lowest to the highest of its numbers. Lines have no form in ASCII, so words
 * have the extremes.
 */
function trend(
  values: readonly (number | undefined)[],
  { unicode, words }: FormatContext,
  kind: NumberKind = 'signedUsd',
): Cell {
  const isSpoken = words || !unicode;
  const shown = isSpoken ? values : condensed(values);
  const numbers = shown.filter(isNumber);
  const low = Math.min(...numbers);
  const high = Math.max(...numbers);
  if (numbers.length === 0) return { text: '', tone: 'dim' };
  const shownAs = (value: number) => numberText(kind, value);
  if (isSpoken) return { text: `${shownAs(low)} to ${shownAs(high)}`, tone: 'plain' };
  const level = (value: number) =>
    low === high ? FLAT : levels[Math.round(((value - low) / (high - low)) * (levels.length - 1))];
  const drawn = shown.map((value) => (value === undefined ? ' ' : level(value)));
  return { text: drawn.join(''), tone: 'plain' };
}

/**
 * The line has a limited number of cells, so each shows the last value of its part, which is a gap
 * only if all of the part is.
 */
function condensed(values: readonly (number | undefined)[]): readonly (number | undefined)[] {
  const width = LENGTH.trend;
  if (values.length <= width) return values;
  return Array.from({ length: width }, (_, cell) =>
    values
      .slice(
        Math.floor((cell * values.length) / width),
        Math.floor(((cell + 1) * values.length) / width),
      )
      .findLast((value) => value !== undefined),
  );
}

/**
 * ASCII has no half block. A bar of half a cell is drawn whole, so that a small loss is visible.
 */
function halfBlock(unicode: boolean, full: string): string {
  if (unicode) return '▐';
  return full === '' ? '#' : '';
}

/** Undefined for words other than `new`, such as `left #94`. */
function move(value: unknown, unicode: boolean): Cell | undefined {
  if (value === 'new') return { text: 'new', tone: 'accent' };
  if (!isNumber(value)) return undefined;
  if (value === 0) return { text: '=', tone: 'dim' };
  const isUp = value > 0;
  const mark = isUp ? '▲ ' : '▼ ';
  const sign = isUp ? '+' : '-';
  return { text: `${unicode ? mark : sign}${Math.abs(value)}`, tone: isUp ? 'good' : 'bad' };
}

// Independent of the locale: commas between thousands, a point before decimals.

type NumberKind = 'usd' | 'signedUsd' | 'percent' | 'number' | 'integer' | 'multiple';

/** A double does not represent all digits of larger numbers, which get an exponent. */
const LARGEST = 1e15;

/** The decimals of numbers that are shown together; undefined if each has its own. */
function decimalsFor(kind: NumberKind, sizes: readonly number[]): number | undefined {
  const largest = sizes.reduce((greatest, size) => Math.max(greatest, size), 0);
  if (kind === 'integer') return undefined;
  if (kind === 'percent') return largest < 1000 ? 1 : 0;
  if (kind === 'multiple') return multipleDecimals(largest);
  if (largest >= 9999.995 || (kind === 'number' && sizes.every(Number.isInteger))) return 0;
  if (kind !== 'number') return largest >= 0.01 || largest === 0 ? 2 : undefined;
  if (largest >= 0.995) return 2;
  return largest >= 0.01 ? 4 : undefined;
}

function multipleDecimals(largest: number): number {
  if (largest < 9.995) return 2;
  return largest < 99.95 ? 1 : 0;
}

/** A value that would be rounded to zero is shown as `<0.1`. */
export function numberText(
  kind: NumberKind,
  value: number,
  times = '×',
  decimals = decimalsFor(kind, [Math.abs(value)]),
): string {
  const size = Math.abs(value);
  const sign = signOf(kind, value);
  const currency = kind === 'usd' || kind === 'signedUsd' ? '$' : '';
  const unit = unitOf(kind, times);
  if (decimals === undefined || size >= LARGEST) return sign + currency + grouped(size) + unit;
  const isBelow = size > 0 && Number(size.toFixed(decimals)) === 0;
  const digits = group((isBelow ? 10 ** -decimals : size).toFixed(decimals));
  return sign + (isBelow ? '<' : '') + currency + digits + unit;
}

function signOf(kind: NumberKind, value: number): string {
  if (value < 0) return '-';
  const isSigned = kind === 'signedUsd' || kind === 'percent';
  return value > 0 && isSigned ? '+' : '';
}

function unitOf(kind: NumberKind, times: string): string {
  if (kind === 'percent') return '%';
  return kind === 'multiple' ? times : '';
}

/** A number has at most two decimals from 1 on, four below 1, two significant digits below 0.01. */
export function grouped(size: number): string {
  if (size >= LARGEST) return size.toExponential(2).replace('e+', 'e');
  if (Number.isInteger(size)) return group(size.toFixed(0));
  if (size >= 0.01) return group(trimmed(size, size < 1 ? 4 : 2));
  if (size < 1e-12) return size.toExponential(1);
  return trimmed(size, Math.min(14, 1 - Math.floor(Math.log10(size))));
}

const trimmed = (size: number, places: number): string =>
  size.toFixed(places).replace(/\.?0+$/, '');
