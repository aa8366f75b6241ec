import { stringifyJson } from '../../base/json.ts';
import { asciiOnly, safeLine } from '../terminal/safe-text.ts';
import type { CellKind, Column } from '../view.ts';
import { bar, meter, move } from './bars.ts';
import { valueIn } from './fields.ts';
import { decimalsFor, type NumberKind, numberText } from './numbers.ts';
import type { Cell, FormatContext, Tone } from './printing.ts';
import { momentOf, span, tableTime, timeText } from './time.ts';

/** What the cells of a column have in common. With a scale, the offset of times is in the header. */
interface ColumnScale {
  readonly decimals?: number | undefined;
  /** The largest size of a number. */
  readonly largest?: number;
  readonly hasLosses?: boolean;
  readonly hasYears?: boolean;
}

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

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

export const isRightAligned = (kind: CellKind): boolean =>
  isNumberKind(kind) || kind === 'age' || kind === 'time';

export function scaleOf<T>(column: Column<T>, records: readonly T[]): ColumnScale {
  const { kind } = column;
  const numbers = records.map((record) => valueIn(column, record)).filter(isNumber);
  return {
    largest: numbers.reduce((most, number) => Math.max(most, Math.abs(number)), 0),
    hasLosses: numbers.some((number) => number < 0),
    ...(isNumberKind(kind) && !column.kindOf && { decimals: decimalsFor(kind, numbers.map(Math.abs)) }),
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
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : stringifyJson(value);
  const line = safeLine(text);
  return unicode ? line : asciiOnly(line);
}

function numberCell(kind: NumberKind, value: number, unicode: boolean, scale?: ColumnScale): Cell {
  const even = numberKinds[kind];
  const tone = even === undefined || value === even ? 'plain' : value < even ? 'bad' : 'good';
  return { text: numberText(kind, value, unicode ? '×' : 'x', scale?.decimals), tone };
}

/** A value of another type than its kind is text. Without a scale, it has its own precision and offset. */
export function formatCell(
  kind: CellKind,
  value: unknown,
  context: FormatContext,
  scale?: ColumnScale,
): Cell {
  const { unicode } = context;
  if (value === null || value === undefined) return { text: unicode ? '—' : '-', tone: 'dim' };
  if (isNumberKind(kind) && isNumber(value)) return numberCell(kind, value, unicode, scale);
  const moment = kind === 'time' || kind === 'age' ? momentOf(value) : undefined;
  if (moment !== undefined && kind === 'time')
    return {
      text: scale
        ? tableTime(moment, context.now(), context.utc, scale.hasYears)
        : timeText(moment, context.utc),
      tone: 'dim',
    };
  if (moment !== undefined) {
    const ago = context.now() - moment;
    return { text: ago < -999 ? `in ${span(ago)}` : span(Math.max(0, ago)), tone: 'dim' };
  }
  const text = plainText(value, unicode);
  switch (kind) {
    case 'meter':
      return meter(value, unicode) ?? { text, tone: 'plain' };
    case 'bar':
      if (!isNumber(value)) return { text, tone: 'plain' };
      return bar(value / (scale?.largest || 1), scale?.hasLosses ?? false, unicode);
    case 'move':
      return move(value, unicode) ?? { text, tone: 'plain' };
    case 'flag':
      if (typeof value !== 'boolean') return { text, tone: 'plain' };
      return value ? { text: unicode ? '✓ yes' : 'yes', tone: 'good' } : { text: 'no', tone: 'dim' };
    case 'handle':
      if (typeof value !== 'string') return { text, tone: 'plain' };
      return { text: text.startsWith('@') || text === '' ? text : `@${text}`, tone: 'accent' };
    case 'status':
      return status(text, context);
    default:
      return { text, tone: kind === 'link' ? 'dim' : 'plain' };
  }
}
