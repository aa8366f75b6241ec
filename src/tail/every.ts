import type { Clock } from '../base/clock.ts';

/** Repeats an act, each time after a wait, until the returned function is called. */
export function every(clock: Clock, ms: () => number, act: () => unknown): () => Promise<void> {
  const ended = new AbortController();
  const repeating = repeat(clock, ms, act, ended.signal);
  return async () => {
    ended.abort();
    await repeating;
  };
}

async function repeat(
  clock: Clock,
  ms: () => number,
  act: () => unknown,
  until: AbortSignal,
): Promise<void> {
  try {
    for (;;) {
      await clock.sleep(ms(), until);
      await act();
    }
  } catch (error) {
    if (!until.aborted) throw error;
  }
}
