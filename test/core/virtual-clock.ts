import type { Clock } from '../../src/base/clock.ts';

export interface VirtualClock extends Clock {
  /** Every sleep that was started, in ms. */
  readonly slept: number[];
  /** Number of sleeps in progress. */
  readonly pending: number;
}

/** A clock that advances to the next wake-up as soon as nothing else is left to do. */
export function virtualClock(start = 1_700_000_000_000): VirtualClock {
  let now = start;
  let sequence = 0;
  const slept: number[] = [];
  const timers: { at: number; order: number; wake: () => void }[] = [];
  let leaping = false;

  function leap(): void {
    if (leaping || timers.length === 0) return;
    leaping = true;
    // One turn of the event loop runs everything that is ready.
    setImmediate(() => {
      leaping = false;
      timers.sort((a, b) => a.at - b.at || a.order - b.order);
      const next = timers.shift();
      if (next) {
        now = Math.max(now, next.at);
        next.wake();
      }
      leap();
    });
  }

  return {
    slept,
    get pending() {
      return timers.length;
    },
    now: () => now,
    mono: () => now - start,
    sleep(ms, signal) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      slept.push(ms);
      return new Promise((resolve, reject) => {
        const timer = {
          at: now + ms,
          order: sequence++,
          wake: () => {
            signal?.removeEventListener('abort', onAbort);
            resolve();
          },
        };
        const onAbort = () => {
          timers.splice(timers.indexOf(timer), 1);
          reject(signal?.reason);
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        timers.push(timer);
        leap();
      });
    },
  };
}
