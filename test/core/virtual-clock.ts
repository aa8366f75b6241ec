import { clockOn, createScheduler } from '../sim/scheduler.ts';

export type VirtualClock = ReturnType<typeof virtualClock>;

/** A clock that advances to the next wake-up as soon as nothing else is left to do. */
export function virtualClock(start = 1_700_000_000_000) {
  const scheduler = createScheduler();
  const clock = clockOn(scheduler, () => start);
  /** Every sleep that was started, in ms. */
  const slept: number[] = [];
  let leaping = false;

  function leap(): void {
    if (leaping || clock.waits === 0) return;
    leaping = true;
    // One turn of the event loop runs everything that is ready.
    setImmediate(() => {
      leaping = false;
      scheduler.step();
      leap();
    });
  }

  return {
    ...{ slept, now: clock.now, mono: clock.mono },
    /** The number of sleeps in progress. */
    get pending() {
      return clock.waits;
    },
    sleep(ms: number, signal?: AbortSignal): Promise<void> {
      if (!signal?.aborted) slept.push(ms);
      const sleeping = clock.sleep(ms, signal);
      leap();
      return sleeping;
    },
  };
}
