import { postTimeOf } from '../../contract/read-record.ts';

const LATEST = 8.64e15;

/** Undefined if it is not in milliseconds: seconds would be a day of 1970. */
export const momentOf = (value: unknown): number | undefined => postTimeOf(value) ?? undefined;

const minutesAhead = (ms: number, utc: boolean) =>
  utc ? 0 : -Math.round(new Date(ms).getTimezoneOffset());

/** `2026-01-02 15:04:05`. */
function wallText(ms: number, ahead: number): string {
  const wall = new Date(Math.min(LATEST, Math.max(-LATEST, ms + ahead * 60_000)));
  return wall.toISOString().replace('T', ' ').replace(/\..*/, '');
}

const two = (value: number) => String(value).padStart(2, '0');

/** `2026-01-02 15:04:05 +01:00`. */
export function timeText(ms: number, utc: boolean): string {
  const ahead = minutesAhead(ms, utc);
  const size = Math.abs(ahead);
  const offset = ` ${ahead < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
  return wallText(ms, ahead) + (utc ? 'Z' : offset);
}

/** `2026-01-02`. */
export const dayText = (ms: number, utc: boolean): string =>
  timeText(ms, utc).slice(0, 'YYYY-MM-DD'.length);

/**
 * `01-02 15:04:05`; by default, with the year if it is not the present one. All cells have the
 * present offset.
 */
export function tableTime(ms: number, now: number, utc: boolean, hasYear = false): string {
  const ahead = minutesAhead(now, utc);
  const text = wallText(ms, ahead);
  const year = wallText(now, ahead).slice(0, 5);
  return !hasYear && text.startsWith(year) ? text.slice(year.length) : text;
}

/** `UTC`, `UTC+2`, `UTC+5:30`. */
export function zoneText(now: number, utc: boolean): string {
  const ahead = minutesAhead(now, utc);
  if (ahead === 0) return 'UTC';
  const minutes = Math.abs(ahead) % 60;
  const hours = Math.floor(Math.abs(ahead) / 60);
  return `UTC${ahead < 0 ? '-' : '+'}${hours}${minutes === 0 ? '' : `:${two(minutes)}`}`;
}

const units = [
  [31_536_000, 'y'],
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'm'],
  [1, 's'],
] as const;

/** `4m43s`, `10m`. */
export function lengthText(ms: number, maxUnits = 2): string {
  let rest = Math.floor(Math.abs(ms) / 1_000);
  const first = units.findIndex(([size]) => rest >= size);
  const parts = units.slice(first, first + maxUnits).flatMap(([size, unit]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count > 0 ? `${count}${unit}` : [];
  });
  return parts.join('') || '0s';
}

/** `42s`, `5m`, `3h`, `12d`, `2y`. */
export const span = (ms: number): string => lengthText(ms, 1);
