const LATEST = 8.64e15;

const two = (value: number) => String(value).padStart(2, '0');

const offsetAt = (ms: number, utc: boolean) => (utc ? 0 : -Math.round(new Date(ms).getTimezoneOffset()));

export function momentOf(value: unknown): number | undefined {
  const ms =
    typeof value === 'number'
      ? value
      : typeof value === 'string' && /^\d{4}-/.test(value)
        ? Date.parse(value)
        : Number.NaN;
  return Math.abs(ms) <= LATEST ? ms : undefined;
}

/** In the UTC fields of the result. */
const wallAt = (ms: number, ahead: number) =>
  new Date(Math.min(LATEST, Math.max(-LATEST, ms + ahead * 60_000)));

function yearText(wall: Date): string {
  const year = wall.getUTCFullYear();
  return year < 0 || year > 9999 ? String(year) : String(year).padStart(4, '0');
}

const dayText = (wall: Date) => `${two(wall.getUTCMonth() + 1)}-${two(wall.getUTCDate())}`;

const clockText = (wall: Date) =>
  `${two(wall.getUTCHours())}:${two(wall.getUTCMinutes())}:${two(wall.getUTCSeconds())}`;

/** `2026-01-02 15:04:05 +01:00`. */
export function timeText(ms: number, utc: boolean): string {
  const ahead = offsetAt(ms, utc);
  const wall = wallAt(ms, ahead);
  const size = Math.abs(ahead);
  const offset = `${ahead < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
  return `${yearText(wall)}-${dayText(wall)} ${clockText(wall)}${utc ? 'Z' : ` ${offset}`}`;
}

export interface TableClock {
  /** `UTC`, `UTC+2`, `UTC+5:30`, for the header. */
  readonly zone: string;
  text(ms: number): string;
  /** Whether a cell shows this time unambiguously, although it may omit the date or the year. */
  covers(ms: number): boolean;
}

/** Cells omit the date if all times are from today, and the year if all are from this year. */
export function tableClock(moments: readonly number[] | undefined, now: number, utc: boolean): TableClock {
  const ahead = offsetAt(now, utc);
  const today = wallAt(now, ahead);
  const isThisYear = (wall: Date) => yearText(wall) === yearText(today);
  const isToday = (wall: Date) => isThisYear(wall) && dayText(wall) === dayText(today);
  const walls = moments?.map((ms) => wallAt(ms, ahead));
  const covers = walls?.every(isToday) ? isToday : walls?.every(isThisYear) ? isThisYear : () => true;
  const dateOf = (wall: Date) => {
    if (covers === isToday) return '';
    return covers === isThisYear ? `${dayText(wall)} ` : `${yearText(wall)}-${dayText(wall)} `;
  };
  const hours = Math.floor(Math.abs(ahead) / 60);
  const minutes = Math.abs(ahead) % 60;
  return {
    zone:
      ahead === 0 ? 'UTC' : `UTC${ahead < 0 ? '-' : '+'}${hours}${minutes === 0 ? '' : `:${two(minutes)}`}`,
    text(ms) {
      const wall = wallAt(ms, ahead);
      return dateOf(wall) + clockText(wall);
    },
    covers: (ms) => covers(wallAt(ms, ahead)),
  };
}

const steps = [
  [60, 's'],
  [60, 'm'],
  [24, 'h'],
  [365, 'd'],
] as const;

/** `42s`, `5m`, `3h`, `12d`, `2y`. */
export function span(ms: number): string {
  let value = Math.floor(Math.abs(ms) / 1000);
  for (const [size, unit] of steps) {
    if (value < size) return `${value}${unit}`;
    value = Math.floor(value / size);
  }
  return `${value}y`;
}

/** `4m43s`, `10m`. */
export function lengthText(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const;
  const first = parts.findIndex(([value]) => value > 0);
  return first < 0
    ? '0s'
    : parts
        .slice(first, first + 2)
        .filter(([value]) => value > 0)
        .map(([value, unit]) => `${value}${unit}`)
        .join('');
}
