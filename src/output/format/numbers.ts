import { group } from '../../base/units.ts';

// Numbers for people, independent of the locale: commas between thousands, a point before decimals.

const suffixes = [
  [1e12, 'T'],
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'K'],
] as const;

/** Formats a number of at least 0 with at most `places` decimals, without trailing zeros. */
const trimmed = (value: number, places: number): string => {
  const digits = value.toFixed(places);
  return places > 0 ? digits.replace(/\.?0+$/, '') : digits;
};

/** Formats a small number with two significant digits; below 1e-12, in exponential notation. */
function small(value: number): string {
  if (value < 1e-12) return value.toExponential(1);
  return trimmed(value, Math.min(14, 1 - Math.floor(Math.log10(value))));
}

/** Formats an absolute value with about three significant digits: `12.3K`, `1.23M`, `0.0012`. */
export function compactNumber(size: number): string {
  if (size >= 1e15) return size.toExponential(2).replace('e+', 'e');
  for (const [unit, suffix] of suffixes) {
    // If the number rounds up to the next unit, use that unit: 999,999 is 1M.
    if (size < unit * 0.99995) continue;
    const part = size / unit;
    return trimmed(part, part < 10 ? 2 : part < 100 ? 1 : 0) + suffix;
  }
  if (size >= 0.995 || size === 0) return trimmed(size, size < 100 ? 2 : 1);
  return size >= 0.01 ? trimmed(size, 2) : small(size);
}

/** Formats an absolute amount of dollars like `dollars`, but shortened from a thousand on. */
export const shortDollars = (size: number): string =>
  size >= 999.995 ? `$${compactNumber(size)}` : dollars(size);

/**
 * Formats an absolute amount of dollars: amounts from $10,000 on are shortened, smaller ones have two decimals,
 * and those under a cent have two significant digits.
 */
export function dollars(size: number): string {
  if (size >= 9999.995) return `$${compactNumber(size)}`;
  if (size === 0 || size >= 0.995) return `$${group(size.toFixed(2))}`;
  return size >= 0.01 ? `$${size.toFixed(2)}` : `$${small(size)}`;
}

/** Formats an absolute amount of dollars like `dollars`, but shortened only from 1e15 on. */
export const exactDollars = (size: number): string =>
  size < 9999.995 || size >= 1e15 ? dollars(size) : `$${group(size.toFixed(2))}`;

/**
 * The number of decimals for all numbers of a column; undefined if the numbers are too small for a fixed
 * number of decimals.
 */
export function decimalsFor(
  kind: 'usd' | 'percent' | 'number' | 'multiple',
  sizes: readonly number[],
): number | undefined {
  const largest = sizes.reduce((most, size) => Math.max(most, size), 0);
  switch (kind) {
    case 'usd':
      if (largest >= 9999.995) return 0;
      return largest >= 0.01 || largest === 0 ? 2 : undefined;
    case 'percent':
      return largest < 1000 ? 1 : 0;
    case 'multiple':
      return largest < 9.995 ? 2 : largest < 99.95 ? 1 : 0;
    case 'number':
      if (sizes.every(Number.isInteger) || largest >= 9999.995) return 0;
      if (largest >= 0.995) return 2;
      return largest >= 0.01 ? 4 : undefined;
  }
}

/**
 * Formats an absolute value with a fixed number of decimals. `below` is true if the value would round to
 * zero; `digits` is then the smallest number with these decimals, for a text such as `<0.01`.
 */
export function fixedNumber(
  size: number,
  decimals: number,
): { readonly below: boolean; readonly digits: string } {
  const below = size > 0 && Number(size.toFixed(decimals)) === 0;
  return { below, digits: group((below ? 10 ** -decimals : size).toFixed(decimals)) };
}

/**
 * Formats an absolute value with grouped thousands: at most two decimals from 1 on, at most four below 1, and
 * two significant digits below 0.01.
 */
export function grouped(size: number): string {
  if (size >= 1e15) return compactNumber(size);
  if (size === 0 || Number.isInteger(size)) return group(size.toFixed(0));
  return size < 0.01 ? small(size) : group(trimmed(size, size < 1 ? 4 : 2));
}
