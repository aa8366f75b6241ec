import { countText, group, unitsText } from '../../base/units.ts';
import { cu } from '../../contract/prices.ts';
import { encode } from '../../core/client/coding.ts';
import type { LookupCall } from '../../core/lookup/cached-lookup.ts';
import type { Allowance } from '../../core/pnl/allowance.ts';
import type { Context } from '../context.ts';

/** A number of handles: `1 handle`, `2,000 handles`. */
export const handlesText = (count: number): string => countText(count, 'handle');

/** The cost of looking up wallets and user ids. */
export interface LookupCost {
  readonly count: number;
  readonly least: number;
  readonly most: number;
}

const NO_LOOKUPS: LookupCost = { count: 0, least: 0, most: 0 };

/** The cost of the given lookup calls. */
export function costOfLookups(calls: readonly LookupCall[]): LookupCost {
  const sum = { count: calls.length, least: 0, most: 0 };
  for (const { id, ask, sure } of calls) {
    const { least, most } = encode(id, ask).bounds;
    if (sure) sum.least += least;
    sum.most += most;
  }
  return sum;
}

/**
 * The cost of the numbers of `count` subjects and of the necessary lookups. The minimum includes no numbers of
 * subjects that must be looked up first, because a user who is not found has no numbers.
 */
export const numbersEstimate = (count: number, { count: unknown, least, most }: LookupCost) => ({
  least: cu.miss * Math.max(0, count - unknown) + least,
  most: cu.reveal * count + most,
});

/**
 * Asks for confirmation of a run if necessary, and reports if the remaining units or reveals may not suffice.
 * The run starts nevertheless, because it requests only as many handles as they cover.
 */
export async function approveRun(
  context: Context,
  allowance: Allowance,
  count: number,
  lookups: LookupCost = NO_LOOKUPS,
): Promise<void> {
  if (count === 0) return;
  const { permission, settings, signal } = context;
  const estimate = { ...numbersEstimate(count, lookups), reveals: count };
  await permission.approve(estimate, {
    costs: (cost) => `This will cost ${cost} for ${handlesText(count)}`,
  });
  const { units, reveals } = await allowance.refresh(signal);
  const most = Math.min(estimate.most, settings.maxCu ?? estimate.most);
  if (units !== null && units < most) {
    const sure = Math.min(count, Math.floor(units / cu.reveal));
    context.notice(`${unitsText(units)} left, enough for at least ${group(sure)} of ${handlesText(count)}`);
  }
  if (reveals !== null && reveals < count) context.notice(`${countText(reveals, 'wallet reveal')} left`);
}
