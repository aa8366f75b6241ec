import type { Clock } from '../base/clock.ts';

export async function every(
  clock: Clock,
  ms: () => number,
  until: AbortSignal,
  act: () => unknown,
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
