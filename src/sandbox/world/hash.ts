/** Mixes 32 bits so that each of them depends on all others; a bijection, undone by `unmix`. */
export function mix(value: number): number {
  let h = value >>> 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** The value that `mix` made `mixed` of. */
export function unmix(mixed: number): number {
  let h = mixed >>> 0;
  h = Math.imul(h ^ (h >>> 16), 0x7ed1b41d);
  h = Math.imul(h ^ (h >>> 13) ^ (h >>> 26), 0xa5cb9243);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Folds any finite number into a 32-bit seed. */
export const seedOf = (seed: number): number => mix(Math.trunc(seed) >>> 0) ^ Math.trunc(seed / 2 ** 32);

/**
 * 32 bits that follow from a seed, what they are for, and an index. All of the world's chance is this
 * function, so any record can be made alone, in any order, and comes out the same.
 */
export const hash = (seed: number, salt: number, index: number): number =>
  mix(mix(seed ^ Math.imul(salt, 0x9e3779b1)) ^ Math.imul(index, 0x85ebca77));

/** The same as a number from 0 up to 1. */
export const unit = (seed: number, salt: number, index: number): number => hash(seed, salt, index) / 2 ** 32;

/** One of a list, by hash. */
export function pick<T>(list: readonly [T, ...T[]], bits: number): T {
  return list[bits % list.length] ?? list[0];
}

/** Money in whole cents. */
export const cents = (value: number): number => Math.round(value * 100);
/** Keeps two decimals; a zero has no sign, since JSON would drop it. */
export const round2 = (value: number): number => Math.round(value * 100) / 100 + 0;
/** Keeps six decimals. */
export const round6 = (value: number): number => Math.round(value * 1e6) / 1e6 + 0;

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
