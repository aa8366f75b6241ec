/** Work in the background of the loop: its outcome is polled and only awaited at the end of the run. */
export interface Job<T> {
  readonly outcome: { readonly value: T } | { readonly error: unknown } | undefined;
  readonly settled: Promise<void>;
}

/** Starts work, and wakes the loop when it ends. */
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
