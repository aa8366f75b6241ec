import { usage } from '../contract/failure.ts';

/** A kind of value that a flag or an argument takes: its name, its reading, and what completes it. */
export interface Value<T> {
  /** As it stands in usage lines: `<duration>`. */
  readonly name: string;
  readonly parse: (text: string) => T;
  readonly choices?: readonly string[];
  readonly complete?: 'file' | 'profile' | 'handle' | 'token';
}

export const text = (name: string, complete?: Value<string>['complete']): Value<string> => ({
  name,
  parse: (given) => given,
  ...(complete && { complete }),
});

export const file: Value<string> = {
  name: 'file',
  complete: 'file',
  parse(given) {
    if (given === '') throw usage('a file name is empty');
    return given;
  },
};

/** A file to write to; `-` is stdout, as everywhere. */
export const outFile: Value<string | undefined> = {
  ...file,
  parse: (given) => (given === '-' ? undefined : file.parse(given)),
};

export function oneOf<const C extends readonly string[]>(...choices: C): Value<C[number]> {
  const isChoice = (given: string): given is C[number] => choices.includes(given);
  return {
    name: choices.join('|'),
    choices,
    parse(given) {
      if (isChoice(given)) return given;
      throw usage(`"${given}" is none of ${choices.join(', ')}`);
    },
  };
}

export function integer(bounds: { readonly min?: number; readonly max?: number } = {}): Value<number> {
  return {
    name: 'n',
    parse(given) {
      const number = /^[+-]?\d+$/.test(given) ? Number(given) : Number.NaN;
      return within(given, number, bounds, 'a whole number');
    },
  };
}

export function decimal(bounds: { readonly min?: number; readonly max?: number } = {}): Value<number> {
  return {
    name: 'n',
    parse(given) {
      const number = /^[+-]?(\d+\.?\d*|\.\d+)$/.test(given) ? Number(given) : Number.NaN;
      return within(given, number, bounds, 'a number');
    },
  };
}

function within(given: string, number: number, { min, max }: { min?: number; max?: number }, what: string) {
  // Beyond that, numbers are no longer those that were written.
  if (!(Math.abs(number) <= Number.MAX_SAFE_INTEGER)) throw usage(`"${given}" is not ${what}`);
  if ((min !== undefined && number < min) || (max !== undefined && number > max)) {
    const range =
      max === undefined ? `at least ${min}` : min === undefined ? `at most ${max}` : `${min} to ${max}`;
    throw usage(`${given} is out of range: ${range}`);
  }
  return number;
}

/** An amount of units: `30000`, `30_000`, `30k`, `2.5M`. */
export const units: Value<number> = {
  name: 'cu',
  parse(given) {
    const match = /^(\d[\d_,]*(?:\.\d+)?)\s*([kKmM])?$/.exec(given);
    const factor = { k: 1_000, m: 1_000_000 }[match?.[2]?.toLowerCase() ?? ''] ?? 1;
    const digits = match?.[1]?.replace(/[_,]/g, '') ?? '';
    const amount = digits === '' ? Number.NaN : scaled(digits, factor);
    if (!Number.isSafeInteger(amount)) {
      throw usage(`"${given}" is not an amount of units`, 'write it as 30000, 30k or 2.5M');
    }
    return amount;
  },
};

/** `1.001` thousand is 1001, which a product of binary fractions is not. */
function scaled(digits: string, factor: number): number {
  const product = Number(digits) * factor;
  const whole = Math.round(product);
  return (digits.split('.')[1]?.length ?? 0) <= Math.log10(factor) ? whole : product;
}

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Longer than anything that is waited for or looked back over: three centuries. */
const LONGEST_MS = 1e13;

/** Milliseconds in a text like `90s`, `1h30m`, `7d`; a bare number is seconds. Undefined where it is none. */
export function readDuration(given: string): number | undefined {
  const ms = durationIn(given);
  return ms !== undefined && ms <= LONGEST_MS ? Math.round(ms) : undefined;
}

function durationIn(given: string): number | undefined {
  if (/^\d+(\.\d+)?$/.test(given)) return Number(given) * 1_000;
  if (!/^(\d+(\.\d+)?(ms|[smhdw]))+$/.test(given)) return undefined;
  let sum = 0;
  for (const [, count, unit] of given.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g)) {
    sum += Number(count) * (unitMs[unit ?? ''] ?? 0);
  }
  return sum;
}

/** A length of time, in milliseconds. */
export const duration: Value<number> = {
  name: 'duration',
  parse(given) {
    const ms = readDuration(given);
    if (ms === undefined)
      throw usage(`"${given}" is not a duration`, 'write it as 500ms, 30s, 5m, 2h, 7d or 1h30m');
    return ms;
  },
};

/** A duration that something can happen in. */
export const patience: Value<number> = {
  name: 'duration',
  parse(given) {
    const ms = duration.parse(given);
    if (ms === 0) throw usage('no time at all is not enough', 'write it as 500ms, 30s or 5m');
    return ms;
  },
};

/** An instant: the age is resolved against the clock when the command runs. */
export type Instant = { readonly epochMs: number } | { readonly ageMs: number };

/** ISO, epoch milliseconds, or an age such as `2h`. */
export const time: Value<Instant> = {
  name: 'time',
  parse(given) {
    if (/^\d{12,14}$/.test(given)) return { epochMs: Number(given) };
    if (/^\d+$/.test(given)) {
      throw usage(
        `"${given}" is no time`,
        'epoch milliseconds have 13 digits; an age needs its unit, as in 2h',
      );
    }
    const ageMs = readDuration(given);
    if (ageMs !== undefined) return { ageMs };
    const epochMs = isDay(given) ? Date.parse(given.replace(' ', 'T')) : Number.NaN;
    if (Number.isNaN(epochMs)) {
      throw usage(
        `"${given}" is no time`,
        'write 2026-01-31T09:30Z, 2026-01-31, 1769851800000 or an age such as 2h',
      );
    }
    return { epochMs };
  },
};

/** Whether a text begins with a day that there is: the engine takes the 30th of February for the 2nd of March. */
function isDay(given: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})(?:-(\d{2})(?!\d)|$)/.exec(given) ?? [];
  if (year === undefined) return false;
  const at = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day ?? 1)));
  return at.getUTCMonth() === Number(month) - 1;
}

/** The epoch milliseconds of an instant, seen from `now`. */
export const instantAt = (instant: Instant, now: number): number =>
  'epochMs' in instant ? instant.epochMs : now - instant.ageMs;

/** A share: `10%` or `0.1`, as a fraction. */
export const share: Value<number> = {
  name: 'share',
  parse(given) {
    const match = /^(\d+(?:\.\d+)?)(%)?$/.exec(given);
    const fraction = match === null ? Number.NaN : Number(match[1]) / (match[2] ? 100 : 1);
    if (!(fraction >= 0 && fraction <= 1)) throw usage(`"${given}" is no share`, 'write it as 10% or 0.1');
    return fraction;
  },
};
