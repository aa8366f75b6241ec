/**
 * A type of value that users write as text. Flags, arguments, settings and environment variables share these
 * parsers, so that `1h30m` or `10k` means the same everywhere.
 */
export interface Kind<T> {
  /** The placeholder in usage lines, such as `<duration>`. */
  readonly name: string;
  /** The name of the value in messages, such as `invalid duration "soon"`. */
  readonly noun: string;
  /** Tells the user how to write such a value; an imperative. */
  readonly hint: string;
  readonly choices?: readonly string[];
  /** Parses a text; undefined if the text is invalid. */
  readonly read: (text: string) => T | undefined;
  /** States what is wrong with an invalid text, without repeating the text. */
  readonly problem?: (text: string) => string;
}

export interface NumberBounds {
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

/**
 * A number with an optional `k` or `M`. Separators are allowed only before groups of three digits: if the
 * comma of `1,5M` were ignored, a limit would be ten times too high.
 */
function readNumber(text: string): number | undefined {
  const match = /^([+-]?)(\d+|\d{1,3}(?:[_,]\d{3})+)?(\.\d*)?([kKmM]?)$/.exec(text);
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match ?? [];
  if (!/\d/.test(whole + fraction)) return undefined;
  const factor = { k: 1e3, m: 1e6 }[suffix.toLowerCase()] ?? 1;
  const product = Number(`${whole.replace(/[_,]/g, '')}${fraction}`) * factor;
  // In floating point, 1.001 × 1000 is not exactly 1001; round it.
  const isWhole = factor > 1 && fraction.length - 1 <= Math.log10(factor);
  const size = isWhole ? Math.round(product) : product;
  // A double cannot hold larger numbers exactly.
  if (!(size <= Number.MAX_SAFE_INTEGER)) return undefined;
  return sign === '-' && size !== 0 ? -size : size;
}

const within = (number: number | undefined, { min, max }: NumberBounds): number | undefined =>
  number === undefined || number < (min ?? -Infinity) || number > (max ?? Infinity) ? undefined : number;

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

/** A number that may have a fraction: `2.5`, `10k`, `1M`. */
export const decimal = (bounds: NumberBounds = {}): Kind<number> => ({
  name: 'n',
  noun: 'number',
  hint: `use a number${rangeText(bounds)}`,
  read: (text) => within(readNumber(text), bounds),
});

/** An amount of units: `30000`, `30_000`, `30k`, `2.5M`. */
export const units: Kind<number> = {
  name: 'cu',
  noun: 'amount',
  hint: 'write it as 30000, 30k or 2.5M',
  read: (text) => integer({ min: 0 }).read(text),
};

/** A fraction of a whole, written as `10%` or `0.1`. */
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

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
const DAY_MS = 86_400_000;

/** About 317 years: longer than any useful wait or period. */
const LONGEST_MS = 1e13;
const DURATION_HINT = 'write it as 500ms, 30s, 5m, 2h, 7d or 1h30m';

/**
 * A length of time in milliseconds, written as `90s`, `1h30m` or `7d`; a number without a unit is seconds.
 */
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

/** A duration as `duration` reads it: `1h30m`. */
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

/** A duration of at least one millisecond. */
export const positiveDuration: Kind<number> = {
  ...duration,
  hint: `${DURATION_HINT}; 0 is not allowed`,
  read: (text) => within(duration.read(text), { min: 1 }),
};

/**
 * The timeout of a request. The maximum of 24 hours is far below 2^31 ms, beyond which a Node timer fires at
 * once.
 */
export const timeout: Kind<number> = {
  ...duration,
  hint: 'write it as 500ms, 30s or 5m; from 1ms to 24h',
  read: (text) => within(duration.read(text), { min: 1, max: DAY_MS }),
};

/**
 * A point in time as the user wrote it. Only an absolute one does not depend on the time and zone of the run.
 */
export type Instant =
  | { readonly epochMs: number }
  | { readonly ageMs: number }
  /** A date and time without a UTC offset, in ISO format. */
  | { readonly wall: string }
  /** The beginning of a day: 0 is today, -1 is yesterday. */
  | { readonly day: number };

const words: Readonly<Record<string, Instant>> = {
  now: { ageMs: 0 },
  today: { day: 0 },
  yesterday: { day: -1 },
};

/** A time: ISO 8601, epoch milliseconds, an age such as `2h`, or a word such as `today`. */
export const time: Kind<Instant> = {
  name: 'time',
  noun: 'time',
  hint: 'write it as 2026-01-31T09:30Z, 2026-01-31, today, yesterday, an age such as 2h, or epoch milliseconds (13 digits)',
  read(text) {
    if (Object.hasOwn(words, text)) return words[text];
    if (/^\d{12,14}$/.test(text)) return { epochMs: Number(text) };
    // A number with fewer digits is ambiguous: it could be epoch seconds, or an age without its unit.
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
  // Reject the 30th of February: `Date.parse` would turn it into the 2nd of March.
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  if (date.getUTCMonth() !== Number(month) - 1) return undefined;
  const wall = `${year}-${month}-${day}T${clock}`;
  const epochMs = Date.parse(`${wall}${offset.toUpperCase() || 'Z'}`);
  if (Number.isNaN(epochMs)) return undefined;
  return offset === '' ? { wall } : { epochMs };
}

/**
 * The epoch milliseconds of an instant. A time without an offset is in the local zone, or in UTC if `utc` is
 * set.
 */
export function instantAt(instant: Instant, now: number, utc = false): number {
  if ('epochMs' in instant) return instant.epochMs;
  if ('ageMs' in instant) return now - instant.ageMs;
  if ('wall' in instant) return Date.parse(utc ? `${instant.wall}Z` : instant.wall);
  const date = new Date(now);
  if (utc) return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + instant.day);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + instant.day).getTime();
}

/** A host name with a dot. A single word is rejected, because it may be an API key in the wrong place. */
const BARE_HOST = /^(localhost|[a-z0-9-]+(\.[a-z0-9-]+)+)(:\d+)?(\/.*)?$/i;

/**
 * The base URL of a service, without a trailing slash. The scheme is http or https; https is added to a bare
 * host. User, query and fragment are rejected.
 */
export const baseUrl: Kind<string> = {
  name: 'url',
  noun: 'base URL',
  hint: 'write it as https://host or https://host/path, without user, query or fragment',
  read(text) {
    const url = urlIn(text);
    return typeof url === 'string' ? undefined : `${url.origin}${url.pathname}`.replace(/\/+$/, '');
  },
  problem(text) {
    const url = urlIn(text);
    return typeof url === 'string' ? url : '';
  },
};

/** Returns the parsed URL, or a description of what is wrong with it. */
function urlIn(text: string): URL | string {
  const full = BARE_HOST.test(text) ? `https://${text}` : text;
  // A space or backslash is a typing error, which the URL parser would repair without a word.
  if (/[\s\\]/.test(full)) return 'it contains a space or a backslash';
  if (!/^https?:\/\//i.test(full)) return 'it must start with https:// (or http:// for localhost)';
  if (!URL.canParse(full)) return 'it is not a valid URL';
  const url = new URL(full);
  if (url.username || url.password) return 'it contains a user name or password';
  return url.search || url.hash ? 'it has a query or a fragment' : url;
}

/** A name of letters, digits and `. _ -`, because it becomes part of keys and labels in the shared store. */
export const plainName: Kind<string> = {
  name: 'name',
  noun: 'name',
  hint: 'use letters, digits and . _ -, at most 64',
  read: (text) => (/^[A-Za-z0-9][\w.-]{0,63}$/.test(text) ? text : undefined),
};

/** The path of a file. The file is not opened when the value is parsed. */
export const filePath: Kind<string> = {
  name: 'file',
  noun: 'file',
  hint: 'write the path of a file',
  read: (text) => (text === '' ? undefined : text),
};

/** The URL of a shared store, or `off`. A password in it is rejected, because URLs end up in logs. */
export const storeUrl: Kind<string> = {
  name: 'url',
  noun: 'store URL',
  hint: 'write it as redis://user@host:6379/0, rediss://user@host:6379/0 or unix:/path, without a password; write off for no store',
  read(text) {
    if (text === 'off' || /^unix:(\/\/)?\/./.test(text)) return text;
    if (/[\s\\]/.test(text) || !URL.canParse(text)) return undefined;
    const url = new URL(text);
    if (url.protocol !== 'redis:' && url.protocol !== 'rediss:') return undefined;
    if (url.password || url.search || url.hash || !url.hostname) return undefined;
    return /^\/?\d{0,4}$/.test(url.pathname) ? text : undefined;
  },
};
