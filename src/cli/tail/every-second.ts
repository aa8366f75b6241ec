import type { Clock } from '../../base/clock.ts';

const SECOND_MS = 1_000;

/** Calls a function every second until the signal is aborted. */
export async function everySecond(
  clock: Clock,
  until: AbortSignal,
  act: () => void | Promise<void>,
): Promise<void> {
  try {
    for (;;) {
      await clock.sleep(SECOND_MS, until);
      await act();
    }
  } catch (error) {
    if (!until.aborted) throw error;
  }
}
