import { setTimeout as delay } from 'node:timers/promises';

/** All code reads the time and waits through this interface, so that tests can use a virtual clock. */
export interface Clock {
  /** Epoch milliseconds. The user or NTP may set the system clock forward or back. */
  now(): number;
  /** Milliseconds of a monotonic clock. */
  mono(): number;
  /** Resolves after `ms`; rejects with the signal's reason as soon as the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The longest delay of a Node timer. A longer one fires at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  // `performance` would be loaded for this alone, which takes a millisecond.
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
