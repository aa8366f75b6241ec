import { type Kind, within } from './values.ts';

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
  if (utc) return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + instant.day);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + instant.day).getTime();
}
