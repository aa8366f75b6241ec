import { Failure } from '../../base/failure.ts';
import { leftOf } from '../../core/account.ts';
import type { Context } from '../context.ts';
import { isAttended } from '../prompt.ts';
import { countText, type Estimate, unitsText } from './estimate.ts';

/** What a run can cost in both meters. */
export interface FullEstimate extends Estimate {
  readonly reveals: number | null;
}

/**
 * Checks a costly run against the spending rules and against what is left of both allowances, before any paid call:
 * `me` is free. Rejects what cannot succeed and warns of what may not. A run without a known end that is not interactive
 * starts without a confirmation, limited to `confirmAbove`.
 */
export async function preflight(context: Context, estimate: FullEstimate, what: string): Promise<void> {
  const { globals, io, settings } = context;
  if (estimate.most === null && !globals.yes && settings.maxCu === undefined && !isAttended(io)) {
    // Most of an input without a known end may be cached already.
    context.limitSpend(settings.confirmAbove);
    return;
  }
  await context.approve(estimate, what);
  if (estimate.most !== null && estimate.most <= context.settings.confirmAbove) return;
  const { known } = await (await context.client()).call('me', {}, { signal: context.signal });
  const { units, reveals } = leftOf(known);
  if (units !== null && units < estimate.least) {
    throw new Failure(
      'quota',
      `${what} costs at least ${unitsText(estimate.least)} but only ${unitsText(units)} are left`,
      {
        code: 'QUOTA_EXCEEDED',
        hint: 'request less, top up, or wait for the next UTC month; trdr me shows what is left',
      },
    );
  }
  if (units !== null && (estimate.most === null || units < estimate.most)) {
    context.notice(`${unitsText(units)} left; ${what} may cost more, and stops when they run out`);
  }
  if (reveals !== null && (estimate.reveals === null || reveals < estimate.reveals)) {
    context.notice(
      `${countText(reveals, 'wallet reveal')} left; ${what} may need more, and stops when they run out`,
    );
  }
}
