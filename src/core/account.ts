import type { KeyMeters } from '../contract/ports.ts';
import type { Known } from '../contract/read-record.ts';
import type { Me } from '../contract/records/account.ts';

/**
 * Computes what a key can still spend. The service does not say whether `unitsRemaining` includes top-ups. If
 * it is more than the rest of this month's grant (the grant minus the usage), it includes them; otherwise
 * trdr adds them.
 */
export function leftOf({ usage = {}, entitlement = {} }: Known<Me>): KeyMeters {
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
 * Whether the record states how many units or reveals are left, or that there is no limit. Without this
 * statement, trdr cannot decide whether the key can pay for a run.
 */
export function isMeterKnown({ usage = {}, entitlement = {} }: Known<Me>, meter: keyof KeyMeters): boolean {
  if (entitlement.unmetered) return true;
  return (meter === 'units' ? usage.unitsRemaining : usage.revealsRemaining) !== undefined;
}

/** A forecast of this month's usage, if the key continues to spend at its average rate of this month. */
export interface Forecast {
  /** Units used by the end of the UTC month. */
  readonly unitsByMonthEnd: number;
  /**
   * Epoch ms at which the last unit will be used; null if the units suffice until the end of the month, or if the
   * number of units left is unlimited or not stated by the service.
   */
  readonly runsOutAt: number | null;
  readonly monthEndsAt: number;
}

const HOUR = 3_600_000;

/**
 * Forecasts the usage at the end of the UTC month. Returns null in the first hour of the month, and if the
 * usage is not known.
 */
export function forecast(me: Known<Me>, now: number): Forecast | null {
  const date = new Date(now);
  const begins = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
  const ends = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  const unitsUsed = me.usage?.unitsUsed;
  // Less than one hour of usage is too little for a forecast.
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
