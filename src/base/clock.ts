import { setTimeout as delay } from 'node:timers/promises';

/**
 * The clock and timers of the program, which tests replace with a virtual clock. These are
 * functions and no methods, because they are passed on without their clock.
 */
export interface Clock {
  /** Epoch milliseconds. Jumps in both directions when the user or NTP sets the system clock. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock, which never jumps. */
  readonly mono: () => number;
  /** Resolves after `ms`; rejects with the signal's reason as soon as the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** The longest delay of a Node timer; with a longer one, it fires at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  // `process.hrtime` is already loaded; loading `performance` would take a millisecond.
  mono: () => Number(process.hrtime.bigint()) / 1e6,
  async sleep(ms, signal) {
    signal?.throwIfAborted();
    try {
      for (let left = ms; left > 0; left -= LONGEST_TIMER) {
        await delay(Math.min(left, LONGEST_TIMER), undefined, signal ? { signal } : {});
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  },
};

/** Waits that grow with each failure. */
export interface Backoff {
  next(): number;
  reset(): void;
}

/**
 * Exponential backoff with full jitter, so that clients that failed together do not retry together.
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
