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

/** The month that the usage is of; by the clock of this machine, it may be another one. */
function monthOf({ usage }: Known<Me>, now: number) {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(usage?.period ?? '') ?? [];
  const date = month === undefined ? new Date(now) : new Date(`${year}-${month}-01`);
  const [inYear, index] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { begins: Date.UTC(inYear, index, 1), ends: Date.UTC(inYear, index + 1, 1) };
}

/**
 * CU per millisecond. Undefined in the first hour of the month, which is too little for a forecast,
 * and if the usage is not known.
 */
function rateOf(me: Known<Me>, now: number): number | undefined {
  const { begins, ends } = monthOf(me, now);
  const elapsed = Math.min(now, ends) - begins;
  const spent = me.usage?.unitsUsed;
  return spent === undefined || elapsed < HOUR ? undefined : spent / elapsed;
}

/**
 * When the units will run out at the rate of this month; null if they renew before, or are
 * unlimited; undefined if the rate is not known.
 */
export function runsOutAt(me: Known<Me>, now: number): number | null | undefined {
  const { units, isGrantedOnce: isFinal } = leftOf(me);
  if (units === null) return null;
  if (units <= 0) return now;
  const rate = rateOf(me, now);
  if (rate === undefined) return undefined;
  const at = Math.round(now + units / rate);
  return Number.isFinite(at) && (isFinal || at < monthOf(me, now).ends) ? at : null;
}

/** Null if the rate of this month is not known. */
export function forecast(me: Known<Me>, now: number): Forecast | null {
  const rate = rateOf(me, now);
  if (rate === undefined) return null;
  const { ends } = monthOf(me, now);
  return {
    unitsByMonthEnd: Math.round((me.usage?.unitsUsed ?? 0) + rate * Math.max(0, ends - now)),
    runsOutAt: runsOutAt(me, now) ?? null,
    monthEndsAt: ends,
  };
}
