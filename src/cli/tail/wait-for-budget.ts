import { Failure } from '../../base/failure.ts';
import { BUDGET } from '../../contract/budget.ts';
import type { Context } from '../context.ts';
import { untilText } from './notice-text.ts';

/** How often to check, because a budget may be raised before it renews. */
const LOOK_MS = 10 * 60_000;

/** Runs the start of a tail as soon as the budget allows it. */
export async function onceInBudget<T>(
  { io, notice, signal }: Context,
  waits: boolean,
  work: () => Promise<T>,
): Promise<T> {
  for (let isReported = false; ; isReported = true) {
    try {
      return await work();
    } catch (error) {
      if (!waits || !(error instanceof Failure) || error.code !== BUDGET) throw error;
      const ms = 1_000 * (error.retryAfter ?? 0);
      if (!isReported) notice(`waiting until ${untilText(io.clock.now() + ms)}: ${error.message}`);
      await io.clock.sleep(Math.min(LOOK_MS, Math.max(1_000, ms)), signal);
    }
  }
}
