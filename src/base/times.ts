import { duration } from './durations.ts';
import type { Kind } from './values.ts';

/**
 * A point in time as the user wrote it: `2h` of `--since 2h` is an age. Only `epochMs` does not
 * depend on the time or the time zone of the run.
 */
export type Instant =
  | { readonly epochMs: number }
  | { readonly ageMs: number }
  /** A date and time without an offset, in ISO format. */
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
    // Reject all other numbers: they could be epoch seconds, or an age without a unit.
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

/**
 * The epoch milliseconds of an instant. A time without an offset is in the local zone, or in UTC if
 * `utc` is set.
 */
export function instantAt(instant: Instant, now: number, utc: boolean): number {
  if ('epochMs' in instant) return instant.epochMs;
  if ('ageMs' in instant) return now - instant.ageMs;
  if ('wall' in instant) return Date.parse(utc ? `${instant.wall}Z` : instant.wall);
  const date = new Date(now);
  if (utc)
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + instant.day);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + instant.day).getTime();
}
