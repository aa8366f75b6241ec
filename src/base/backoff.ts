/** Waits that grow with every failure. */
export interface Backoff {
  /** The next wait, in milliseconds. */
  next(): number;
  reset(): void;
}

/** Full jitter: anything from nothing to a bound that doubles, so that clients of one service do not move as one. */
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
