import { stringifyJson } from '../../base/json.ts';
import { group } from '../../base/units.ts';
import { asciiOnly, safeLine } from '../terminal/safe-text.ts';
import type { CellKind } from '../view.ts';
import { barCell, meter, move, spark } from './bars.ts';
import type { Cell, FormatContext, Tone } from './cell.ts';
import { compactNumber, dollars, exactDollars, grouped, shortDollars } from './numbers.ts';
import { momentOf, span, timeForms } from './time.ts';

/** The kinds of values whose columns are right-aligned. */
export const rightAligned: ReadonlySet<CellKind> = new Set<CellKind>([
  'usd',
  'signedUsd',
  'percent',
  'share',
  'number',
  'integer',
  'multiple',
  'age',
]);

const cell = (tone: Tone, ...forms: string[]): Cell => ({ forms, tone });

/** Shortens an address to its first and last characters: `7xKX…9fQ2`, `0x1a2b…9f0e`. */
function shorten(address: string, ellipsis: string): string {
  const front = address.startsWith('0x') ? 6 : 4;
  if (address.length <= front + 4 + ellipsis.length || !/^[\x21-\x7e]*$/.test(address)) return address;
  return `${address.slice(0, front)}${ellipsis}${address.slice(-4)}`;
}

const signOf = (value: number) => (value < 0 ? '-' : value > 0 ? '+' : '');
const toneOf = (value: number): Tone => (value < 0 ? 'bad' : value > 0 ? 'good' : 'plain');

type NumberKind = 'usd' | 'signedUsd' | 'percent' | 'share' | 'number' | 'integer' | 'multiple';

const numbers: Record<NumberKind, (value: number, context: FormatContext) => Cell> = {
  usd: (value) => {
    const minus = value < 0 ? '-' : '';
    return cell('plain', minus + dollars(Math.abs(value)), minus + shortDollars(Math.abs(value)));
  },
  signedUsd: (value) => {
    const sign = signOf(value);
    const size = Math.abs(value);
    return cell(toneOf(value), sign + dollars(size), sign + shortDollars(size));
  },
  percent: (value) => {
    const size = Math.abs(value);
    const digits = size >= 10_000 ? compactNumber(size) : group(size.toFixed(size < 1000 ? 1 : 0));
    // Show a small value as <0.1, not as 0.0.
    const shown = size !== 0 && size < 0.05 ? '<0.1' : digits;
    return cell(toneOf(value), `${signOf(value)}${shown}%`);
  },
  share: (value) => {
    const size = Math.abs(value);
    const digits = size >= 1e6 ? compactNumber(size) : group(size.toFixed(1)).replace(/\.0$/, '');
    return cell('plain', `${value < 0 ? '-' : ''}${digits}%`);
  },
  number: (value) => {
    const minus = value < 0 ? '-' : '';
    return cell('plain', minus + grouped(Math.abs(value)), minus + compactNumber(Math.abs(value)));
  },
  integer: (value) => {
    const minus = value < 0 ? '-' : '';
    return cell('plain', minus + grouped(Math.abs(value)), minus + compactNumber(Math.abs(value)));
  },
  multiple: (value, { unicode }) => {
    const times = unicode ? '×' : 'x';
    const digits = value >= 100 ? grouped(Math.round(value)) : compactNumber(Math.abs(value));
    const tone = value > 1 ? 'good' : value < 1 ? 'bad' : 'plain';
    return cell(tone, `${value < 0 ? '-' : ''}${digits}${times}`);
  },
};

const isNumberKind = (kind: CellKind): kind is NumberKind => Object.hasOwn(numbers, kind);

/** The color of a status, by its first word. */
const statusTones: readonly (readonly [RegExp, Tone])[] = [
  [/^(?:found|ok)\b/, 'good'],
  [/^(?:fail|failed)\b/, 'bad'],
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
  return cell(tone, mark ? `${mark} ${text}` : text);
}

/** Formats any value as one safe line; objects and lists as JSON. */
function plainText(value: unknown, unicode: boolean): string {
  // Use String for numbers, because JSON cannot represent NaN and Infinity.
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : stringifyJson(value);
  const line = safeLine(text);
  return unicode ? line : asciiOnly(line);
}

/** The kinds of values that are drawn. A value that cannot be drawn is shown as text. */
const drawings: Partial<Record<CellKind, (value: unknown, context: FormatContext) => Cell | undefined>> = {
  meter,
  spark,
  bar: barCell,
  move,
};

/** Formats dollars without shortening them, for cards, which have enough width; undefined for other kinds. */
function exact(kind: CellKind, value: number): string | undefined {
  if (kind === 'usd') return (value < 0 ? '-' : '') + exactDollars(Math.abs(value));
  if (kind === 'signedUsd') return signOf(value) + exactDollars(Math.abs(value));
  return undefined;
}

/**
 * Formats a value for people. A value of another type than its kind expects is shown as text. With `roomy`, the
 * longest variant of dollars is not shortened.
 */
export function formatCell(kind: CellKind, value: unknown, context: FormatContext, roomy = false): Cell {
  if (value === null || value === undefined) return cell('dim', context.unicode ? '—' : '-');
  if (typeof value === 'number' && Number.isFinite(value)) {
    if (isNumberKind(kind)) {
      const formatted = numbers[kind](value, context);
      const full = roomy ? exact(kind, value) : undefined;
      return full === undefined ? formatted : cell(formatted.tone, full, ...formatted.forms);
    }
  }
  if (kind === 'time' || kind === 'age') {
    const moment = momentOf(value);
    if (moment === undefined) return cell('plain', plainText(value, context.unicode));
    if (kind === 'time') return cell('dim', ...timeForms(moment, context));
    const ago = context.now() - moment;
    return cell('dim', ago < -999 ? `in ${span(ago)}` : span(Math.max(0, ago)));
  }
  const drawn = drawings[kind]?.(value, context);
  if (drawn) return drawn;
  const text = plainText(value, context.unicode);
  if (kind === 'flag' && typeof value === 'boolean') {
    return value ? cell('good', context.unicode ? '✓ yes' : 'yes', 'yes') : cell('dim', 'no');
  }
  if (kind === 'address' && typeof value === 'string')
    return cell('plain', text, shorten(text, context.unicode ? '…' : '..'));
  if (kind === 'handle' && typeof value === 'string')
    return cell('accent', text.startsWith('@') || text === '' ? text : `@${text}`);
  if (kind === 'status') return status(text, context);
  return cell(kind === 'link' ? 'dim' : 'plain', text);
}
