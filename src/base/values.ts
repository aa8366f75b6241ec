/** All inputs share these kinds, so that `10k` means the same everywhere. */
export interface Kind<T> {
  readonly name: string;
  /** As in `invalid duration "soon"`. */
  readonly noun: string;
  readonly hint: string;
  readonly choices?: readonly string[];
  readonly read: (text: string) => T | undefined;
  readonly problem?: (text: string) => string;
}

interface NumberBounds {
  readonly min?: number;
  readonly max?: number;
}

export function oneOf<const C extends readonly string[]>(...choices: C): Kind<C[number]> {
  const isChoice = (text: string): text is C[number] => choices.includes(text);
  return {
    name: choices.join('|'),
    noun: 'value',
    hint: `choose from ${choices.join(', ')}`,
    choices,
    read: (text) => (isChoice(text) ? text : undefined),
  };
}

export const onOff: Kind<boolean> = {
  ...oneOf('true', 'false'),
  read: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
};

/** Groups of three digits: if the comma of `1,5M` were ignored, a limit would be ten times too high. */
function readNumber(text: string): number | undefined {
  const match = /^([+-]?)(\d+|\d{1,3}(?:[_,]\d{3})+)?(\.\d*)?([kKmM]?)$/.exec(text);
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match ?? [];
  if (!/\d/.test(whole + fraction)) return undefined;
  const factor = { k: 1e3, m: 1e6 }[suffix.toLowerCase()] ?? 1;
  const product = Number(`${whole.replace(/[_,]/g, '')}${fraction}`) * factor;
  // In floating point, 1.001 × 1000 is not exactly 1001.
  const isWhole = factor > 1 && fraction.length - 1 <= Math.log10(factor);
  const size = isWhole ? Math.round(product) : product;
  // A double cannot represent larger numbers exactly.
  if (!(size <= Number.MAX_SAFE_INTEGER)) return undefined;
  return sign === '-' && size !== 0 ? -size : size;
}

const within = (number: number | undefined, { min, max }: NumberBounds): number | undefined =>
  number === undefined || number < (min ?? -Infinity) || number > (max ?? Infinity)
    ? undefined
    : number;

const rangeText = ({ min, max }: NumberBounds): string => {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return ` of at least ${min}`;
  return max === undefined ? '' : ` of at most ${max}`;
};

export const integer = (bounds: NumberBounds = {}): Kind<number> => ({
  name: 'n',
  noun: 'number',
  hint: `use a whole number${rangeText(bounds)}`,
  read(text) {
    const number = readNumber(text);
    return Number.isSafeInteger(number) ? within(number, bounds) : undefined;
  },
});

export const decimal = (bounds: NumberBounds = {}): Kind<number> => ({
  name: 'n',
  noun: 'number',
  hint: `use a number${rangeText(bounds)}`,
  read: (text) => within(readNumber(text), bounds),
});

export const units: Kind<number> = {
  name: 'cu',
  noun: 'amount',
  hint: 'write it as 30000, 30k or 2.5M',
  read: (text) => integer({ min: 0 }).read(text),
};

export const share: Kind<number> = {
  name: 'share',
  noun: 'share',
  hint: 'write it as 10% or 0.1',
  read(text) {
    const [, number, percent] = /^(\d+(?:\.\d+)?)(%)?$/.exec(text) ?? [];
    const fraction = Number(number) / (percent ? 100 : 1);
    return fraction >= 0 && fraction <= 1 ? fraction : undefined;
  },
};

/** The name becomes part of keys and labels in the shared store. */
export const plainName: Kind<string> = {
  name: 'name',
  noun: 'name',
  hint: 'use at most 64 letters, digits and . _ -, starting with a letter or digit',
  read: (text) => (/^[A-Za-z0-9][\w.-]{0,63}$/.test(text) ? text : undefined),
};

export const commandLine: Kind<string> = {
  name: 'cmd',
  noun: 'command',
  hint: 'write a command that prints the secret on one line',
  read: (text) => text.trim() || undefined,
};

export const filePath: Kind<string> = {
  name: 'file',
  noun: 'file',
  hint: 'write the path of a file',
  read: (text) => (text === '' ? undefined : text),
};

/** Texts copied from web pages, chats or spreadsheets often have invisible characters at their ends. */
export const trimText = (text: string): string =>
  isPrintable(text.charCodeAt(0)) && isPrintable(text.charCodeAt(text.length - 1))
    ? text
    : text.replace(ENDS, '');

/** Most texts begin and end with visible ASCII, and need no search. */
const isPrintable = (code: number): boolean => code > 0x20 && code < 0x7f;

const EMPTY = '[\\s\\xad\\u061c\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff]+';
const ENDS = new RegExp(`^${EMPTY}|${EMPTY}$`, 'g');

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

const DAY_MS = 86_400_000;

const LONGEST_MS = 1e13;

const DURATION_HINT = 'write it as 500ms, 30s, 5m, 2h, 7d or 1h30m';

/** In milliseconds; a number without a unit is seconds. */
export const duration: Kind<number> = {
  name: 'duration',
  noun: 'duration',
  hint: DURATION_HINT,
  read(text) {
    const ms = durationIn(text);
    return ms !== undefined && ms <= LONGEST_MS ? Math.round(ms) : undefined;
  },
};

function durationIn(text: string): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1_000;
  if (!/^(\d+(\.\d+)?(ms|[smhdw]))+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, count, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g)) {
    sum += Number(count) * (unitMs[unit ?? ''] ?? 0);
  }
  return sum;
}

export function durationText(ms: number): string {
  let rest = ms;
  let text = '';
  for (const unit of ['d', 'h', 'm', 's', 'ms']) {
    const size = unitMs[unit] ?? 1;
    const count = Math.floor(rest / size);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * size;
  }
  return text || '0s';
}

export const positiveDuration: Kind<number> = {
  ...duration,
  hint: `${DURATION_HINT}; 0 is not allowed`,
  read: (text) => within(duration.read(text), { min: 1 }),
};

export const timeout: Kind<number> = {
  ...duration,
  hint: 'write it as 500ms, 30s or 5m; from 1ms to 24h',
  read: (text) => within(duration.read(text), { min: 1, max: DAY_MS }),
};

export type Instant =
  | { readonly epochMs: number }
  | { readonly ageMs: number }
  | { readonly wall: string }
  /** 0 is today, -1 is yesterday. */
  | { readonly day: number };

const words: Readonly<Record<string, Instant>> = {
  now: { ageMs: 0 },
  today: { day: 0 },
  yesterday: { day: -1 },
};

export const time: Kind<Instant> = {
  name: 'time',
  noun: 'time',
  hint: 'write it as 2026-01-31T09:30Z, 2026-01-31, today, yesterday, an age such as 2h, or epoch milliseconds (13 digits)',
  read(text) {
    if (Object.hasOwn(words, text)) return words[text];
    if (/^\d{12,14}$/.test(text)) return { epochMs: Number(text) };
    // Other numbers could be epoch seconds, or an age without a unit.
    if (/^\d+(\.\d+)?$/.test(text)) return undefined;
    const ageMs = duration.read(text);
    return ageMs === undefined ? dateIn(text) : { ageMs };
  },
};

const DATE =
  /^(\d{4})-(\d{2})(?:-(\d{2}))?(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:\d{2})?)?$/i;

function dateIn(text: string): Instant | undefined {
  const [, year, month, day = '01', clock = '00:00', offset = ''] = DATE.exec(text) ?? [];
  if (year === undefined) return undefined;
  // `Date.parse` would turn the 30th of February into the 2nd of March.
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  if (date.getUTCMonth() !== Number(month) - 1) return undefined;
  const wall = `${year}-${month}-${day}T${clock}`;
  const epochMs = Date.parse(`${wall}${offset.toUpperCase() || 'Z'}`);
  if (Number.isNaN(epochMs)) return undefined;
  return offset === '' ? { wall } : { epochMs };
}

/** A time without an offset is in the local zone, or in UTC if `utc` is set. */
export function instantAt(instant: Instant, now: number, utc = false): number {
  if ('epochMs' in instant) return instant.epochMs;
  if ('ageMs' in instant) return now - instant.ageMs;
  if ('wall' in instant) return Date.parse(utc ? `${instant.wall}Z` : instant.wall);
  const date = new Date(now);
  if (utc)
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + instant.day);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + instant.day).getTime();
}
