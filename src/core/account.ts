import type { Me } from '../contract/records/account.ts';

/** What is left of both meters; `null` where nothing limits. */
export interface Left {
  readonly units: number | null;
  readonly reveals: number | null;
}

/**
 * What a key can still spend. Whether `unitsRemaining` counts the top-ups is not stated, so its own
 * arithmetic tells: grant less used is the month's rest alone, anything beyond holds the top-ups.
 */
export function leftOf({ usage, entitlement }: Me): Left {
  if (entitlement.unmetered) return { units: null, reveals: null };
  const { unitsRemaining, additionalUnits, revealsRemaining } = usage;
  if (unitsRemaining === null) return { units: null, reveals: revealsRemaining };
  const monthsRest = Math.max(0, entitlement.monthlyUnits - usage.unitsUsed);
  const countsTopUps = unitsRemaining > monthsRest && additionalUnits > 0;
  return {
    units: countsTopUps ? unitsRemaining : unitsRemaining + additionalUnits,
    reveals: revealsRemaining,
  };
}

/** Where the month's units go at the present rate. */
export interface Forecast {
  /** Units used by the end of the UTC month, should it go on like this. */
  readonly unitsByMonthEnd: number;
  /** When the units run out before that; null where they last. */
  readonly runsOutAt: number | null;
  readonly monthEndsAt: number;
}

const HOUR = 3_600_000;

/** Carries the use of this UTC month so far on to its end. Too early in the month, there is none. */
export function forecast(me: Me, now: number): Forecast | null {
  const date = new Date(now);
  const begins = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
  const ends = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  // The first hours say nothing about a month.
  if (now - begins < HOUR) return null;
  const perMs = me.usage.unitsUsed / (now - begins);
  const left = leftOf(me).units;
  const runsOutAt = left === null || perMs === 0 ? null : now + left / perMs;
  return {
    unitsByMonthEnd: Math.round(me.usage.unitsUsed + perMs * (ends - now)),
    runsOutAt: runsOutAt !== null && runsOutAt < ends ? Math.round(runsOutAt) : null,
    monthEndsAt: ends,
  };
}
