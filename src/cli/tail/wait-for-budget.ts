import { Failure } from '../../base/failure.ts';
import { BUDGET } from '../../contract/budget.ts';
import type { Context } from '../context.ts';
import { untilText } from './messages.ts';

/** A budget may be raised before it renews. */
const LOOK_MS = 10 * 60_000;

/** Does what a tail has to do before it begins, once the budget allows it. */
export async function onceInBudget<T>(
  { io, notice, signal }: Context,
  waits: boolean,
  work: () => Promise<T>,
): Promise<T> {
  for (let told = false; ; told = true) {
    try {
      return await work();
    } catch (error) {
      if (!waits || !(error instanceof Failure) || error.code !== BUDGET) throw error;
      const ms = 1_000 * (error.retryAfter ?? 0);
      if (!told) notice(`waiting until ${untilText(io.clock.now() + ms)}: ${error.message}`);
      await io.clock.sleep(Math.min(LOOK_MS, Math.max(1_000, ms)), signal);
    }
  }
}
