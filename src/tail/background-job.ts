/** Background work: the main loop polls its outcome, and awaits it only at the end of a run. */
export class Job<T> {
  outcome: { readonly value: T } | { readonly error: unknown } | undefined;
  readonly settled: Promise<void>;

  constructor(wake: () => void, work: () => Promise<T>) {
    this.settled = (async () => {
      try {
        this.outcome = { value: await work() };
      } catch (error) {
        this.outcome = { error };
      }
      wake();
    })();
  }
}
