import { Failure } from '../../base/failure.ts';
import { waitsForUnits } from '../../tail/spend/renewal.ts';
import type { Context } from '../context.ts';
import { lockFiles } from './files.ts';
import { untilText } from './notice-text.ts';
import type { ServiceFlags } from './service/flags.ts';
import { type HealthWatch, nothingMeasured, watchHealth } from './service/watch.ts';

/** The maximum wait before the next attempt: the user may have raised the budget or topped up the key. */
const LOOK_MS = 10 * 60_000;

interface WaitFlags extends ServiceFlags {
  readonly waitForBudget: boolean;
}

/**
 * Runs a paid call before the start of a tail. With --wait-for-budget, waits while a budget or the allowance of the
 * key does not cover the call.
 */
export async function onceInBudget<T>(
  context: Context,
  flags: WaitFlags,
  work: () => Promise<T>,
): Promise<T> {
  const { io, signal, notice } = context;
  let waiting: HealthWatch | undefined;
  try {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        const ms = error instanceof Failure ? waitsForUnits(error, io.clock.now()) : undefined;
        if (!flags.waitForBudget || !(error instanceof Failure) || ms === undefined) throw error;
        if (!waiting) {
          waiting = openWaiting(context, flags);
          notice(`waiting until ${untilText(io.clock.now() + ms)}: ${error.message}`);
        }
        await io.clock.sleep(Math.min(LOOK_MS, Math.max(1_000, ms)), signal);
      }
    }
  } catch (error) {
    await waiting?.end();
    waiting = undefined;
    throw error;
  } finally {
    await waiting?.handOver();
  }
}

/**
 * Reports the wait to the status file and the service manager, because the tail, which reports later, has not
 * started yet.
 */
function openWaiting(context: Context, flags: ServiceFlags): HealthWatch {
  const { status } = flags;
  const { state } = context.settings.folders;
  const unlock = lockFiles({ out: undefined, checkpoint: undefined, status, state });
  let turns = 0;
  const watch = watchHealth(context, flags, {
    facts: () => nothingMeasured,
    text: () => 'waiting for units',
    turns: () => turns,
    wake: () => void turns++,
  });
  const closing = (close: () => Promise<void>) => () => close().finally(unlock);
  return { end: closing(watch.end), handOver: closing(watch.handOver) };
}
