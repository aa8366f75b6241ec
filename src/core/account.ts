import type { KeyMeters } from '../contract/ports.ts';
import type { Known } from '../contract/read-record.ts';
import type { Me } from '../contract/records/account.ts';

/** What is left of both meters; null if nothing limits a meter, as far as the record says. */
export type Left = KeyMeters;

/**
 * What a key can still spend. The service does not say whether `unitsRemaining` includes top-ups, so it is
 * derived: grant minus used is what the month has left; anything above that includes the top-ups.
 */
export function leftOf({ usage = {}, entitlement = {} }: Known<Me>): Left {
  if (entitlement.unmetered) return { units: null, reveals: null };
  const { unitsUsed, unitsRemaining = null, additionalUnits = 0, revealsRemaining: reveals = null } = usage;
  const { monthlyUnits } = entitlement;
  if (unitsRemaining === null) return { units: null, reveals };
  const monthsRest =
    monthlyUnits === undefined || unitsUsed === undefined ? 0 : Math.max(0, monthlyUnits - unitsUsed);
  const countsTopUps = unitsRemaining > monthsRest && additionalUnits > 0;
  return { units: countsTopUps ? unitsRemaining : unitsRemaining + additionalUnits, reveals };
}

/** Whether the record states what is left of a meter. Without that, a budget check cannot be decided. */
export function isMeterKnown({ usage = {}, entitlement = {} }: Known<Me>, meter: keyof Left): boolean {
  if (entitlement.unmetered) return true;
  return (meter === 'units' ? usage.unitsRemaining : usage.revealsRemaining) !== undefined;
}

/** The projected use of the month at the present rate. */
export interface Forecast {
  /** Units used by the end of the UTC month at this rate. */
  readonly unitsByMonthEnd: number;
  /** When the units run out, if that is before the end of the month; null otherwise. */
  readonly runsOutAt: number | null;
  readonly monthEndsAt: number;
}

const HOUR = 3_600_000;

/** Projects this month's use to the end of the UTC month. Null in its first hour, and if the use is unknown. */
export function forecast(me: Known<Me>, now: number): Forecast | null {
  const date = new Date(now);
  const begins = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
  const ends = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  const unitsUsed = me.usage?.unitsUsed;
  // The first hour is too short for a projection.
  if (unitsUsed === undefined || now - begins < HOUR) return null;
  const perMs = unitsUsed / (now - begins);
  const left = leftOf(me).units;
  const runsOutAt = left === null || perMs === 0 ? null : now + left / perMs;
  return {
    unitsByMonthEnd: Math.round(unitsUsed + perMs * (ends - now)),
    runsOutAt: runsOutAt !== null && runsOutAt < ends ? Math.round(runsOutAt) : null,
    monthEndsAt: ends,
  };
}
