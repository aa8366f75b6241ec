import type { Kind } from './values.ts';

interface NumberBounds {
  readonly min?: number;
  readonly max?: number;
}

/**
 * A number with an optional `k` or `M`. Separators are allowed only before groups of three digits:
 * if the comma of `1,5M` were ignored, a limit would be ten times too high.
 */
function readNumber(text: string): number | undefined {
  const match = /^([+-]?)(\d+|\d{1,3}(?:[_,]\d{3})+)?(\.\d*)?([kKmM]?)$/.exec(text);
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match ?? [];
  if (!/\d/.test(whole + fraction)) return undefined;
  const factor = { k: 1e3, m: 1e6 }[suffix.toLowerCase()] ?? 1;
  const product = Number(`${whole.replace(/[_,]/g, '')}${fraction}`) * factor;
  // In floating point, 1.001 × 1000 is not exactly 1001.
  const isWhole = factor > 1 && fraction.length - 1 <= Math.log10(factor);
  const size = isWhole ? Math.round(product) : product;
  // A double cannot represent larger numbers exactly.
  if (!(size <= Number.MAX_SAFE_INTEGER)) return undefined;
  return sign === '-' && size !== 0 ? -size : size;
}

/** The number, if it is within the bounds. */
export const within = (
  number: number | undefined,
  { min, max }: NumberBounds,
): number | undefined =>
  number === undefined || number < (min ?? -Infinity) || number > (max ?? Infinity)
    ? undefined
    : number;

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

/** An amount of CU: `30000`, `30_000`, `30k`, `2.5M`. */
export const units: Kind<number> = {
  name: 'cu',
  noun: 'amount',
  hint: 'write it as 30000, 30k or 2.5M',
  read: (text) => integer({ min: 0 }).read(text),
};

/** A fraction of a whole: `10%` or `0.1`. */
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
