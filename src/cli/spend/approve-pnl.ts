import { group } from '../../base/units.ts';
import { cu } from '../../contract/endpoints.ts';
import type { Allowance } from '../../core/pnl/allowance.ts';
import type { Context } from '../context.ts';
import { countText, unitsText } from './estimate.ts';

/** `1 handle`, `2,000 handles`. */
export const handlesText = (count: number): string => countText(count, 'handle');

/**
 * Holds a run against the money rules and against what is left of both meters, before any paid call. What
 * cannot all be paid for is said, not refused: the batches are sized to it.
 */
export async function approveRun(context: Context, purse: Allowance, count: number): Promise<void> {
  if (count === 0) return;
  const { io, signal } = context;
  const estimate = { least: cu.miss * count, most: cu.reveal * count };
  const what = `requesting ${handlesText(count)}`;
  const somebody = io.stdin.isTTY === true && io.stderr.isTTY === true;
  // Where nobody can be asked, the rules alone decide, and the service is left alone.
  if (!somebody) await context.approve(estimate, what);
  const { units, reveals } = await purse.refresh(signal);
  const costly = somebody && estimate.most > context.settings.confirmAbove;
  if (units !== null && (costly || units < estimate.most)) {
    const sure = Math.min(count, Math.floor(units / cu.reveal));
    const enough = sure < count ? `, enough for ${group(sure)} of ${handlesText(count)} at full price` : '';
    context.notice(`${unitsText(units)} left${enough}`);
  }
  if (reveals !== null && (costly || reveals < count)) {
    context.notice(`${group(reveals)} wallet reveals left`);
  }
  if (somebody) await context.approve(estimate, what);
}
