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
 * Holds a costly run against the money rules and against what is left of both meters, before any paid call:
 * `me` is free. Refuses what can't succeed at all, warns of what may not. What has no known end
 * is not asked about where nobody is there: it ends where more than `confirmAbove` would be spent.
 */
export async function preflight(context: Context, estimate: FullEstimate, what: string): Promise<void> {
  const { globals, io, settings } = context;
  if (estimate.most === null && !globals.yes && settings.maxCu === undefined && !isAttended(io)) {
    // Nobody knows how much there is, and most of it may be known already: it goes as far as goes unasked.
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
      `${what} costs at least ${unitsText(estimate.least)}, and ${unitsText(units)} are left`,
      {
        code: 'QUOTA_EXCEEDED',
        hint: 'ask for less, top up, or wait for the UTC month to turn; trdr me shows the meters',
      },
    );
  }
  if (units !== null && (estimate.most === null || units < estimate.most)) {
    context.notice(
      `${unitsText(units)} are left, and ${what} may cost more: what is answered will be delivered`,
    );
  }
  if (reveals !== null && (estimate.reveals === null || reveals < estimate.reveals)) {
    context.notice(
      `${countText(reveals, 'wallet reveal')} are left, and ${what} may need more: what is answered will be delivered`,
    );
  }
}
