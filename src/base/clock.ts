import { setTimeout as delay } from 'node:timers/promises';

/** Time as a value: nothing in the program reads a clock or waits but through one of these. */
export interface Clock {
  /** Epoch milliseconds; may jump. */
  now(): number;
  /** Milliseconds that only ever grow. */
  mono(): number;
  /** Resolves after `ms`; rejects with the signal's reason as soon as that is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The longest wait a timer of Node takes without firing at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  mono: () => performance.now(),
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
