/** The time zone in which times are shown. */
export interface TimeZoneOptions {
  readonly utc: boolean;
  /** The name of a time zone; by default the zone of this machine. */
  readonly timeZone?: string | undefined;
}

/** The latest time that a Date can represent. */
const LATEST = 8.64e15;

const two = (value: number) => String(value).padStart(2, '0');

const zones = new Map<string, Intl.DateTimeFormat | undefined>();

/** Creates a formatter for the date and time in a zone; undefined if Intl does not support the zone. */
function clockOf(zone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      calendar: 'gregory',
      numberingSystem: 'latn',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    // Use Date for POSIX zones such as `CET-1CEST`, which Intl does not support.
    return undefined;
  }
}

/**
 * The offset of a zone from UTC in minutes at a given time. If the zone is undefined, or Intl does not support
 * it, the offset of this machine.
 */
function offsetIn(zone: string | undefined, ms: number): number {
  const name = zone?.replace(/^:/, '');
  if (name && !zones.has(name)) zones.set(name, clockOf(name));
  const format = name ? zones.get(name) : undefined;
  if (!format) return -new Date(ms).getTimezoneOffset();
  const part: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(ms)) part[type] = Number(value);
  const wall = Date.UTC(
    part['year'] ?? 0,
    (part['month'] ?? 1) - 1,
    part['day'],
    part['hour'],
    part['minute'],
    part['second'],
  );
  const ahead = Math.round((wall - Math.floor(ms / 1000) * 1000) / 60_000);
  // Use 0 for years before 1: Intl shows them with an era, which makes the computed offset wrong.
  return Math.abs(ahead) < 1440 ? ahead : 0;
}

/** Epoch milliseconds of a number or an ISO time; undefined if the value is not a time. */
export function momentOf(value: unknown): number | undefined {
  const ms =
    typeof value === 'number'
      ? value
      : typeof value === 'string' && /^\d{4}-/.test(value)
        ? Date.parse(value)
        : Number.NaN;
  return Math.abs(ms) <= LATEST ? ms : undefined;
}

/** A time with its UTC offset in three lengths: complete, without seconds, and without year and seconds. */
export function timeForms(ms: number, options: TimeZoneOptions): readonly [string, string, string] {
  const ahead = options.utc ? 0 : offsetIn(options.timeZone, ms);
  const wall = new Date(Math.min(LATEST, Math.max(-LATEST, ms + ahead * 60_000)));
  const year = wall.getUTCFullYear();
  const date = `${two(wall.getUTCMonth() + 1)}-${two(wall.getUTCDate())}`;
  const minutes = `${two(wall.getUTCHours())}:${two(wall.getUTCMinutes())}`;
  const hours = Math.floor(Math.abs(ahead) / 60);
  const rest = Math.abs(ahead) % 60;
  const sign = ahead < 0 ? '-' : '+';
  const offset = options.utc ? 'Z' : ` ${sign}${two(hours)}:${two(rest)}`;
  const brief = options.utc ? 'Z' : `${sign}${two(hours)}${rest === 0 ? '' : `:${two(rest)}`}`;
  const full = `${yearText(year)}-${date}`;
  return [
    `${full} ${minutes}:${two(wall.getUTCSeconds())}${offset}`,
    `${full} ${minutes}${offset}`,
    `${date} ${minutes}${brief}`,
  ];
}

/**
 * The format of the times of a table. The header shows the UTC offset. Cells may omit the date or the
 * year.
 */
export interface TableClock {
  /** The UTC offset of all times, for the header: `UTC`, `UTC+2`, `UTC+5:30`. */
  readonly zone: string;
  /** A time with and without seconds. */
  forms(ms: number): readonly [string, string];
  /**
   * Whether a cell shows this time unambiguously: if cells omit the date, the time must be from today; if they
   * omit only the year, from this year.
   */
  covers(ms: number): boolean;
}

/**
 * Creates the format for a table with these times. Cells omit the date if all times are from today, and the
 * year if all are from this year. If `moments` is undefined, they omit neither.
 */
export function tableClock(
  moments: readonly number[] | undefined,
  now: number,
  options: TimeZoneOptions,
): TableClock {
  const ahead = options.utc ? 0 : offsetIn(options.timeZone, now);
  const wallOf = (ms: number) => new Date(Math.min(LATEST, Math.max(-LATEST, ms + ahead * 60_000)));
  const today = wallOf(now);
  const isToday = (wall: Date) => wall.toISOString().slice(0, -13) === today.toISOString().slice(0, -13);
  const isThisYear = (wall: Date) => wall.getUTCFullYear() === today.getUTCFullYear();
  const walls = moments?.map(wallOf);
  const covers = walls?.every(isToday) ? isToday : walls?.every(isThisYear) ? isThisYear : () => true;
  const dateOf = (wall: Date) => {
    if (covers === isToday) return '';
    const day = `${two(wall.getUTCMonth() + 1)}-${two(wall.getUTCDate())} `;
    return covers === isThisYear ? day : `${yearText(wall.getUTCFullYear())}-${day}`;
  };
  const hours = Math.floor(Math.abs(ahead) / 60);
  const minutes = Math.abs(ahead) % 60;
  return {
    zone:
      ahead === 0 ? 'UTC' : `UTC${ahead < 0 ? '-' : '+'}${hours}${minutes === 0 ? '' : `:${two(minutes)}`}`,
    forms(ms) {
      const wall = wallOf(ms);
      const brief = `${dateOf(wall)}${two(wall.getUTCHours())}:${two(wall.getUTCMinutes())}`;
      return [`${brief}:${two(wall.getUTCSeconds())}`, brief];
    },
    covers: (ms) => covers(wallOf(ms)),
  };
}

const yearText = (year: number): string =>
  year < 0 || year > 9999 ? String(year) : String(year).padStart(4, '0');

const steps = [
  [60, 's'],
  [60, 'm'],
  [24, 'h'],
  [365, 'd'],
] as const;

/** A duration in its largest unit: `42s`, `5m`, `3h`, `12d`, `2y`. */
export function span(ms: number): string {
  let value = Math.floor(Math.abs(ms) / 1000);
  for (const [size, unit] of steps) {
    if (value < size) return `${value}${unit}`;
    value = Math.floor(value / size);
  }
  return `${value}y`;
}

/** A duration in its two largest units: `4m43s`, `10m`. */
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
