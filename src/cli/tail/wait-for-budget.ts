import { Failure } from '../../base/failure.ts';
import { nothingMeasured } from '../../tail/health.ts';
import { waitsForUnits } from '../../tail/spend/units-left.ts';
import type { Context } from '../context.ts';
import type { ServiceFlags, TailFlags } from './flags.ts';
import { lockFiles } from './lock-files.ts';
import { untilText } from './notice-text.ts';
import { watchHealth } from './service/watch.ts';

/** The maximum wait before the next attempt: the user may have raised the budget or topped up the key. */
const LOOK_MS = 10 * 60_000;

/**
 * Runs a paid call before the start of a tail. With --wait-for-budget, waits while a budget or the allowance of the
 * key does not cover the call.
 */
export async function onceInBudget<T>(
  context: Context,
  flags: ServiceFlags & Pick<TailFlags, 'waitForBudget'>,
  work: () => Promise<T>,
): Promise<T> {
  const { io, signal, notice } = context;
  let waitsUntil: number | null = null;
  let unlock: (() => void) | undefined;
  let handOver: (() => Promise<void>) | undefined;
  try {
    for (;;) {
      try {
        const done = await work();
        await handOver?.();
        return done;
      } catch (error) {
        const ms = error instanceof Failure ? waitsForUnits(error, io.clock.now()) : undefined;
        if (!flags.waitForBudget || !(error instanceof Failure) || ms === undefined) throw error;
        waitsUntil = io.clock.now() + ms;
        const text = `waiting until ${untilText(waitsUntil)}`;
        if (!unlock) {
          unlock = lockFiles(context.settings, undefined, flags.status);
          // The tail reports its state to the status file and the service manager, but has not started yet.
          handOver = watchHealth(context, flags, {
            facts: () => ({ ...nothingMeasured, waitsUntil }),
            text: () => `${text} for units`,
          });
          notice(`${text}: ${error.message}`);
        }
        await io.clock.sleep(Math.min(LOOK_MS, Math.max(1_000, ms)), signal);
      }
    }
  } finally {
    unlock?.();
  }
}
