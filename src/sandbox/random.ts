export type Random = () => number;

/**
 * Mulberry32. Each part of the sandbox has its own label, so that parts do not affect each other's
 * numbers.
 */
export function randomOf(seed: number, label: string): Random {
  let state = seed >>> 0;
  for (const char of label) state = Math.imul(state ^ (char.codePointAt(0) ?? 0), 0x9e3779b1) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * The time until the next event of a Poisson process, if there are `mean` ms between events on
 * average.
 */
export const exponential = (random: Random, mean: number) => -Math.log(1 - random()) * mean;

export const below = (random: Random, limit: number): number => Math.floor(random() * limit);

export function pick<T>(random: Random, list: readonly T[]): T {
  const item = list[below(random, list.length)];
  if (item === undefined) throw new RangeError('cannot pick from an empty list');
  return item;
}

export function randomHex(random: Random, count: number): string {
  let text = '';
  while (text.length < count)
    text += below(random, 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  return text.slice(0, count);
}

export function randomUuid(random: Random): string {
  const hex = randomHex(random, 30);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(12, 15)}-a${hex.slice(15, 18)}-${hex.slice(18)}`;
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/**
 * A random Solana address. 44 base58 digits are 32 bytes if the first one is neither 1 nor after H.
 */
export function randomSolana(random: Random): string {
  let text = BASE58.charAt(1 + below(random, 16));
  while (text.length < 44) text += BASE58.charAt(below(random, 58));
  return text;
}

/** A random EVM address in lower case, which needs no checksum. */
export const randomEvm = (random: Random): string => `0x${randomHex(random, 40)}`;

/** Rounds to two decimals. Adding 0 turns -0 into 0, as `JSON.stringify` does. */
export const round2 = (value: number): number => Math.round(value * 100) / 100 + 0;
