export type Backoff = ReturnType<typeof createBackoff>;

/**
 * Full jitter: each wait is random, up to a bound. The bound starts at `firstMs` and doubles with every failure,
 * up to `maxMs`. Clients that failed together therefore do not retry together.
 */
export function createBackoff(firstMs: number, maxMs: number, random: () => number) {
  let bound = firstMs;
  return {
    next(): number {
      const ms = random() * bound;
      bound = Math.min(maxMs, bound * 2);
      return ms;
    },
    reset(): void {
      bound = firstMs;
    },
  };
}
