/** Returns pseudo-random numbers in [0, 1). */
export type Random = () => number;

/**
 * A random number generator (Mulberry32) for a seed and a label. Each part of the sandbox uses its own label,
 * so that the parts do not affect each other's numbers.
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

/** The time until the next event of a Poisson process, if there are `mean` ms between events on average. */
export const exponential = (random: Random, mean: number) => -Math.log(1 - random()) * mean;

/** Returns `count` random hexadecimal digits. */
export function randomHex(random: Random, count: number): string {
  let text = '';
  while (text.length < count) text += Math.floor(random() * 16).toString(16);
  return text;
}
