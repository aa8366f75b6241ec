/** Work under way beside the loop: looked at, never awaited, until the end. */
export interface Job<T> {
  readonly outcome: { readonly value: T } | { readonly error: unknown } | undefined;
  readonly settled: Promise<void>;
}

/** Starts work, and rings when it is over. */
export function startJob<T>(wake: () => void, work: () => Promise<T>): Job<T> {
  let outcome: Job<T>['outcome'];
  const settled = (async () => {
    try {
      outcome = { value: await work() };
    } catch (error) {
      outcome = { error };
    }
    wake();
  })();
  return {
    get outcome() {
      return outcome;
    },
    settled,
  };
}
