import type { KeyMeters, MeterName } from '../contract/ports/client.ts';
import type { Known } from '../contract/read-record.ts';
import { type Forecast, isGrantedOnce, type Me } from '../contract/records/account.ts';

/**
 * If `unitsRemaining` exceeds what is left of the grant, it includes top-ups; otherwise they are
 * added.
 */
export function leftOf(me: Known<Me>): KeyMeters {
  return { ...metersOf(me), isGrantedOnce: isGrantedOnce(me) };
}

function metersOf({ usage = {}, entitlement = {} }: Known<Me>): Pick<KeyMeters, MeterName> {
  if (entitlement.unmetered) return { units: null, reveals: null };
  const {
    unitsUsed,
    unitsRemaining = null,
    additionalUnits = 0,
    revealsRemaining: reveals = null,
  } = usage;
  const { monthlyUnits } = entitlement;
  if (unitsRemaining === null) return { units: null, reveals };
  const monthsRest =
    monthlyUnits === undefined || unitsUsed === undefined
      ? 0
      : Math.max(0, monthlyUnits - unitsUsed);
  const countsTopUps = unitsRemaining > monthsRest && additionalUnits > 0;
  return { units: countsTopUps ? unitsRemaining : unitsRemaining + additionalUnits, reveals };
}

/** Otherwise, trdr cannot decide whether the key can pay for a run. */
export function isMeterKnown(
  { usage = {}, entitlement = {} }: Known<Me>,
  meter: MeterName,
): boolean {
  if (entitlement.unmetered) return true;
  return (meter === 'units' ? usage.unitsRemaining : usage.revealsRemaining) !== undefined;
}

const HOUR = 3_600_000;

/** What to do when the units are used up, as the end of a hint. */
export const untilRenewal = ({ isGrantedOnce }: Pick<KeyMeters, 'isGrantedOnce'>): string =>
  isGrantedOnce
    ? 'or change the plan: its units were granted once'
    : 'or wait for the next UTC month';

/**
 * Null in the first hour of the month, which is too little for a forecast, and if the usage is not
 * known.
 */
export function forecast(me: Known<Me>, now: number): Forecast | null {
  const date = new Date(now);
  const begins = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
  const ends = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  const unitsUsed = me.usage?.unitsUsed;
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
