/** Waits that get longer with every failure. */
export interface Backoff {
  /** Returns the next wait in milliseconds. */
  next(): number;
  reset(): void;
}

/**
 * Full jitter: a random wait up to a bound that doubles each time, so that clients do not retry in step.
 */
export function createBackoff(firstMs: number, maxMs: number, random: () => number): Backoff {
  let bound = firstMs;
  return {
    next() {
      const ms = random() * bound;
      bound = Math.min(maxMs, bound * 2);
      return ms;
    },
    reset() {
      bound = firstMs;
    },
  };
}
