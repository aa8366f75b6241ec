/** Background work: the main loop polls its outcome, and awaits it only at the end of a run. */
export interface Job<T> {
  readonly outcome: { readonly value: T } | { readonly error: unknown } | undefined;
  readonly settled: Promise<void>;
}

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
