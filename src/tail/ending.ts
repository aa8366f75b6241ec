import type { Clock } from '../base/clock.ts';
import { Failure } from '../base/failure.ts';

/**
 * The end of a run that only reads: by a person, after its duration, by a failure, or because the
 * reader of its output has left.
 */
export class Ending {
  /** Aborted when the run must end. */
  readonly signal: AbortSignal;
  readonly #person: AbortSignal;
  readonly #closed: AbortSignal | undefined;
  readonly #own = new AbortController();
  #failure: { readonly error: unknown } | undefined;

  /** `closed` is aborted when the reader of the output leaves, or a write fails. */
  constructor(person: AbortSignal, closed?: AbortSignal) {
    this.#person = person;
    this.#closed = closed;
    const signals = [person, this.#own.signal];
    this.signal = AbortSignal.any(closed ? [...signals, closed] : signals);
  }

  stop(): void {
    this.#own.abort();
  }

  stopAfter(ms: number, clock: Pick<Clock, 'sleep'>): void {
    clock.sleep(ms, this.signal).then(
      () => this.stop(),
      () => {},
    );
  }

  /** Ends the run because of an error, which `check` throws. Only the first one counts. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.stop();
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Whether somebody may still read the output. */
  get hasReader(): boolean {
    return this.#closed?.aborted !== true;
  }

  /**
   * Throws what ended the run. The reader may leave, but a failed write such as on a full disk
   * counts.
   */
  check(): void {
    if (this.#failure) throw this.#failure.error;
    if (this.#closed?.reason instanceof Failure && !this.#person.aborted) throw this.#closed.reason;
  }
}
