import type { Clock } from '../base/clock.ts';

/**
 * The error that cancels a timer. It is created once, because capturing the stack for each error
 * would be slow.
 */
const REPLACED = new Error('the timer was replaced');

/**
 * Only an earlier time replaces the timer, because an unnecessary wakeup costs less than a new
 * timer.
 */
export class Wakeup {
  #woken = false;
  #resumeLoop: (() => void) | undefined;
  #timer: { readonly due: number } | undefined;
  /** Cancels the timer. The next one uses it too, unless it was aborted. */
  #off = new AbortController();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly wake = (): void => {
    this.#woken = true;
    this.#resumeLoop?.();
    this.#resumeLoop = undefined;
  };

  /**
   * Resolves at the next call of `wake`, at once if there was one since the last wait, or at `due`
   * on the monotonic clock.
   */
  async wait(due: number): Promise<void> {
    if (!this.#woken) {
      this.#arm(due);
      await new Promise<void>((resolve) => {
        this.#resumeLoop = resolve;
      });
    }
    this.#woken = false;
  }

  close(): void {
    if (!this.#timer) return;
    this.#off.abort(REPLACED);
    this.#off = new AbortController();
    this.#timer = undefined;
  }

  #arm(due: number): void {
    if (due === Number.POSITIVE_INFINITY || (this.#timer && this.#timer.due <= due)) return;
    this.close();
    const own = { due };
    this.#timer = own;
    this.#clock.sleep(Math.max(0, Math.ceil(due - this.#clock.mono())), this.#off.signal).then(
      () => {
        if (this.#timer === own) this.#timer = undefined;
        this.wake();
      },
      () => {},
    );
  }
}
