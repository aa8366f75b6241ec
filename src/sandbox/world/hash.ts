/** The 32-bit finalizer of MurmurHash3: a bijection, inverted by `unmix`. */
export function mix(value: number): number {
  let h = value >>> 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** The inverse of `mix`. */
export function unmix(mixed: number): number {
  let h = mixed >>> 0;
  h = Math.imul(h ^ (h >>> 16), 0x7ed1b41d);
  h = Math.imul(h ^ (h >>> 13) ^ (h >>> 26), 0xa5cb9243);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Converts a finite number to a 32-bit seed. */
export const seedOf = (seed: number): number => mix(Math.trunc(seed) >>> 0) ^ Math.trunc(seed / 2 ** 32);

/**
 * Returns 32 pseudo-random bits for a seed, a purpose (`salt`) and an index. All random values of a generated
 * world come from this function. Any record can therefore be created alone and in any order, with the same
 * result.
 */
export const hash = (seed: number, salt: number, index: number): number =>
  mix(mix(seed ^ Math.imul(salt, 0x9e3779b1)) ^ Math.imul(index, 0x85ebca77));

/** Like `hash`, but returns a number in [0, 1). */
export const unit = (seed: number, salt: number, index: number): number => hash(seed, salt, index) / 2 ** 32;

/** Selects an item of a list by pseudo-random bits. */
export function pick<T>(list: readonly [T, ...T[]], bits: number): T {
  return list[bits % list.length] ?? list[0];
}

/** Dollars as whole cents. */
export const cents = (value: number): number => Math.round(value * 100);
/** Rounds to two decimals. Adding 0 turns -0 into 0, as `JSON.stringify` does. */
export const round2 = (value: number): number => Math.round(value * 100) / 100 + 0;
/** Rounds to six decimals. */
export const round6 = (value: number): number => Math.round(value * 1e6) / 1e6 + 0;

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
