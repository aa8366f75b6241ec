import { Failure } from '../contract/failure.ts';
import { leftOf } from '../core/account.ts';
import type { Context } from './context.ts';
import { type Estimate, unitsText } from './money.ts';

/** What a run can cost in both meters. */
export interface FullEstimate extends Estimate {
  readonly reveals: number | null;
}

/**
 * Holds a costly run against the money rules and against what is left of both meters, before any paid call:
 * `me` is free. Refuses what can't succeed at all, warns of what may not.
 */
export async function preflight(context: Context, estimate: FullEstimate, what: string): Promise<void> {
  await context.approve(estimate, what);
  if (estimate.most !== null && estimate.most <= context.settings.confirmAbove) return;
  const { record } = await (await context.client()).call('me', {}, { signal: context.signal });
  const { units, reveals } = leftOf(record);
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
    context.say(
      `${unitsText(units)} are left, and ${what} may cost more: what is answered will be delivered`,
    );
  }
  if (reveals !== null && (estimate.reveals === null || reveals < estimate.reveals)) {
    context.say(
      `${reveals} wallet reveals are left, and ${what} may need more: what is answered will be delivered`,
    );
  }
}
