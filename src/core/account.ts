import type { KeyMeters } from '../contract/ports.ts';
import type { Known } from '../contract/read-record.ts';
import type { Me } from '../contract/records/account.ts';

/** What a key can still spend, in units and in reveals; null for one without a known limit. */
export type Left = KeyMeters;

/**
 * What a key can still spend. The service does not say whether `unitsRemaining` includes top-ups, so it is
 * derived: what is left of this month's grant is the grant minus the usage; any units beyond that come from
 * top-ups.
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

/**
 * Whether the record states how many units or reveals are left. Otherwise trdr cannot tell whether a run is
 * affordable.
 */
export function isMeterKnown({ usage = {}, entitlement = {} }: Known<Me>, meter: keyof Left): boolean {
  if (entitlement.unmetered) return true;
  return (meter === 'units' ? usage.unitsRemaining : usage.revealsRemaining) !== undefined;
}

/** A forecast of this month's usage at the present rate. */
export interface Forecast {
  /** Units used by the end of the UTC month. */
  readonly unitsByMonthEnd: number;
  /** The time at which the units run out; null if they last until the end of the month. */
  readonly runsOutAt: number | null;
  readonly monthEndsAt: number;
}

const HOUR = 3_600_000;

/**
 * Forecasts the usage at the end of the UTC month. Null during its first hour, and if the usage is not known.
 */
export function forecast(me: Known<Me>, now: number): Forecast | null {
  const date = new Date(now);
  const begins = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
  const ends = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  const unitsUsed = me.usage?.unitsUsed;
  // One hour of usage is too little for a forecast.
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
