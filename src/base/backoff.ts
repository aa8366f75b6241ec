export type Backoff = ReturnType<typeof createBackoff>;

/** Exponential backoff with full jitter, so that clients that failed together do not retry together. */
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
