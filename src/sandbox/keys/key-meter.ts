import type { Charge } from '../../contract/endpoint.ts';

/** What a key may spend, and what it has already spent. */
export interface MeterTerms {
  readonly monthlyUnits: number;
  readonly revealsPerMonth: number | null;
  readonly additionalUnits: number;
  readonly unitsUsed: number;
  readonly revealsUsed: number;
  readonly unmetered: boolean;
  readonly grantedOnce: boolean;
}

/** What `me` shows for this month, and the totals of all charges since the sandbox created the key. */
export interface MeterReading {
  readonly period: string;
  readonly unitsUsed: number;
  readonly unitsRemaining: number | null;
  readonly additionalUnits: number;
  readonly revealsUsed: number;
  readonly revealsRemaining: number | null;
  readonly totalUnits: number;
  readonly totalReveals: number;
}

type Shortage = 'QUOTA_EXCEEDED' | 'REVEAL_LIMIT_REACHED';

/** Counts the units and reveals of one key. */
export interface KeyMeter {
  /** Returns why a charge cannot be paid; null if it can be paid. */
  shortage(charge: Charge): Shortage | null;
  /**
   * Deducts a charge, first from the month's grant, then from top-ups. The caller must have checked the charge
   * with `shortage`.
   */
  spend(charge: Charge): void;
  /**
   * Reserves the amount of a charge during a long call, so that no other call can spend it. Returns a
   * function that ends the reservation.
   */
  reserve(charge: Charge): () => void;
  topUp(units: number): void;
  readonly unmetered: boolean;
  /** Whether the key has never had an allowance. */
  readonly neverGranted: boolean;
  reading(): MeterReading;
}

export function createKeyMeter(terms: MeterTerms, now: () => number): KeyMeter {
  const monthOf = () => new Date(now()).toISOString().slice(0, 7);
  let period = monthOf();
  let unitsUsed = terms.unitsUsed;
  let revealsUsed = terms.revealsUsed;
  let grantLeft = Math.max(0, terms.monthlyUnits - terms.unitsUsed);
  let additional = terms.additionalUnits;
  let reservedUnits = 0;
  let reservedReveals = 0;
  let totalUnits = 0;
  let totalReveals = 0;
  let granted = terms.monthlyUnits > 0 || terms.additionalUnits > 0;

  const startMonth = () => {
    if (monthOf() === period) return;
    period = monthOf();
    unitsUsed = 0;
    revealsUsed = 0;
    if (!terms.grantedOnce) grantLeft = terms.monthlyUnits;
  };
  const revealCap = terms.unmetered ? null : terms.revealsPerMonth;

  return {
    shortage(charge) {
      startMonth();
      if (terms.unmetered) return null;
      if (charge.cu > grantLeft + additional - reservedUnits) return 'QUOTA_EXCEEDED';
      const left = revealCap === null ? Number.POSITIVE_INFINITY : revealCap - revealsUsed - reservedReveals;
      return charge.reveals > 0 && charge.reveals > left ? 'REVEAL_LIMIT_REACHED' : null;
    },
    spend(charge) {
      startMonth();
      unitsUsed += charge.cu;
      revealsUsed += charge.reveals;
      totalUnits += charge.cu;
      totalReveals += charge.reveals;
      if (terms.unmetered) return;
      const fromGrant = Math.min(grantLeft, charge.cu);
      grantLeft -= fromGrant;
      additional = Math.max(0, additional - (charge.cu - fromGrant));
    },
    reserve(charge) {
      reservedUnits += charge.cu;
      reservedReveals += charge.reveals;
      let reserved = true;
      return () => {
        if (!reserved) return;
        reserved = false;
        reservedUnits -= charge.cu;
        reservedReveals -= charge.reveals;
      };
    },
    topUp(units) {
      additional += units;
      granted ||= units > 0;
    },
    unmetered: terms.unmetered,
    get neverGranted() {
      return !terms.unmetered && !granted;
    },
    reading() {
      startMonth();
      return {
        period,
        unitsUsed,
        unitsRemaining: terms.unmetered ? null : grantLeft,
        additionalUnits: additional,
        revealsUsed,
        revealsRemaining: revealCap === null ? null : Math.max(0, revealCap - revealsUsed),
        totalUnits,
        totalReveals,
      };
    },
  };
}
