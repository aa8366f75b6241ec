/** Which clock of the wall a time is shown by. */
export interface TimeZoneOptions {
  readonly utc: boolean;
  /** A zone's name; the machine's own zone where absent. */
  readonly timeZone?: string | undefined;
}

/** The last moment that a Date can hold. */
const LATEST = 8.64e15;

const two = (value: number) => String(value).padStart(2, '0');

const zones = new Map<string, Intl.DateTimeFormat | undefined>();

/** Reads the wall clock of a zone in one locale and calendar, whatever the machine is set to. */
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
    // A zone in the style of POSIX (`CET-1CEST`), or none at all: the system knows what to make of it.
    return undefined;
  }
}

/** Minutes by which a named zone is ahead of UTC at a moment; the machine's own where the name is unknown. */
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
  // Years that are counted in another way give no offset that any zone ever had.
  return Math.abs(ahead) < 1440 ? ahead : 0;
}

/** Epoch milliseconds of a time of the service or of trdr; undefined if it is not a time. */
export function momentOf(value: unknown): number | undefined {
  const ms =
    typeof value === 'number'
      ? value
      : typeof value === 'string' && /^\d{4}-/.test(value)
        ? Date.parse(value)
        : Number.NaN;
  return Math.abs(ms) <= LATEST ? ms : undefined;
}

/** A moment with its offset, from long to short: with seconds, without, without the year. */
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

/** One way of writing the times of a table: the offset stands in the header, and what all times share is left out. */
export interface TableClock {
  /** The offset of all times, for the header: `UTC`, `UTC+2`, `UTC+5:30`. */
  readonly zone: string;
  /** A moment with and without seconds. */
  forms(ms: number): readonly [string, string];
  /** Whether a moment can be told without a date, or a year, that is left out. */
  covers(ms: number): boolean;
}

/** The clock for a table of these moments: no date where all are of today, no year where all are of this year. */
export function tableClock(moments: readonly number[], now: number, options: TimeZoneOptions): TableClock {
  const ahead = options.utc ? 0 : offsetIn(options.timeZone, now);
  const wallOf = (ms: number) => new Date(Math.min(LATEST, Math.max(-LATEST, ms + ahead * 60_000)));
  const today = wallOf(now);
  const isToday = (wall: Date) => wall.toISOString().slice(0, -13) === today.toISOString().slice(0, -13);
  const isThisYear = (wall: Date) => wall.getUTCFullYear() === today.getUTCFullYear();
  const walls = moments.map(wallOf);
  const covers = walls.every(isToday) ? isToday : walls.every(isThisYear) ? isThisYear : () => true;
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

/** A length of time in its largest unit: `42s`, `5m`, `3h`, `12d`, `2y`. */
export function span(ms: number): string {
  let value = Math.floor(Math.abs(ms) / 1000);
  for (const [size, unit] of steps) {
    if (value < size) return `${value}${unit}`;
    value = Math.floor(value / size);
  }
  return `${value}y`;
}
