import { group } from '../../base/units.ts';

// Independent of the locale: commas between thousands, a point before decimals.

export type NumberKind = 'usd' | 'signedUsd' | 'percent' | 'number' | 'integer' | 'multiple';

/** A double does not represent all digits of larger numbers, which get an exponent. */
const LARGEST = 1e15;

/** The decimals of numbers that are shown together; undefined if each has its own. */
export function decimalsFor(kind: NumberKind, sizes: readonly number[]): number | undefined {
  const largest = sizes.reduce((most, size) => Math.max(most, size), 0);
  switch (kind) {
    case 'usd':
    case 'signedUsd':
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
    case 'integer':
      return undefined;
  }
}

/** A value that would be rounded to zero is shown as `<0.1`. */
export function numberText(
  kind: NumberKind,
  value: number,
  times = '×',
  decimals = decimalsFor(kind, [Math.abs(value)]),
): string {
  const size = Math.abs(value);
  const isSigned = kind === 'signedUsd' || kind === 'percent';
  const sign = value < 0 ? '-' : value > 0 && isSigned ? '+' : '';
  const currency = kind === 'usd' || kind === 'signedUsd' ? '$' : '';
  const unit = kind === 'percent' ? '%' : kind === 'multiple' ? times : '';
  if (decimals === undefined || size >= LARGEST) return sign + currency + grouped(size) + unit;
  const isBelow = size > 0 && Number(size.toFixed(decimals)) === 0;
  const digits = group((isBelow ? 10 ** -decimals : size).toFixed(decimals));
  return sign + (isBelow ? '<' : '') + currency + digits + unit;
}

/** At most two decimals from 1 on, four below 1, and two significant digits below 0.01. */
export function grouped(size: number): string {
  if (size >= LARGEST) return size.toExponential(2).replace('e+', 'e');
  if (Number.isInteger(size)) return group(size.toFixed(0));
  if (size >= 0.01) return group(trimmed(size, size < 1 ? 4 : 2));
  if (size < 1e-12) return size.toExponential(1);
  return trimmed(size, Math.min(14, 1 - Math.floor(Math.log10(size))));
}

const trimmed = (size: number, places: number): string => size.toFixed(places).replace(/\.?0+$/, '');
