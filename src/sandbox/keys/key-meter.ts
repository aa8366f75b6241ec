import type { Charge } from '../../contract/endpoint.ts';

/** What a key may spend. */
export interface MeterTerms {
  readonly monthlyUnits: number;
  readonly revealsPerMonth: number | null;
  readonly additionalUnits: number;
  readonly unitsUsed: number;
  readonly revealsUsed: number;
  readonly unmetered: boolean;
  readonly once: boolean;
}

/** A key's counters, as `me` shows them, and what they came to over all months. */
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

/** Counts units and reveals of one key, exact to the unit. */
export interface Meter {
  /** Why a charge can't be paid now; null where it can. */
  shortage(charge: Charge): Shortage | null;
  /** Spends what was checked before; the month's grant first, then top-ups. */
  spend(charge: Charge): void;
  /** Keeps a charge aside while work goes on, so that no other call spends it; returns the release. */
  hold(charge: Charge): () => void;
  topUp(units: number): void;
  readonly unmetered: boolean;
  /** True where the key was never granted anything. */
  readonly empty: boolean;
  reading(): MeterReading;
}

export function createMeter(terms: MeterTerms, now: () => number): Meter {
  const monthOf = () => new Date(now()).toISOString().slice(0, 7);
  let period = monthOf();
  let unitsUsed = terms.unitsUsed;
  let revealsUsed = terms.revealsUsed;
  let grantLeft = Math.max(0, terms.monthlyUnits - terms.unitsUsed);
  let additional = terms.additionalUnits;
  let heldUnits = 0;
  let heldReveals = 0;
  let totalUnits = 0;
  let totalReveals = 0;
  let granted = terms.monthlyUnits > 0 || terms.additionalUnits > 0;

  const turnMonth = () => {
    if (monthOf() === period) return;
    period = monthOf();
    unitsUsed = 0;
    revealsUsed = 0;
    if (!terms.once) grantLeft = terms.monthlyUnits;
  };
  const capOfReveals = terms.unmetered ? null : terms.revealsPerMonth;

  return {
    shortage(charge) {
      turnMonth();
      if (terms.unmetered) return null;
      if (charge.cu > grantLeft + additional - heldUnits) return 'QUOTA_EXCEEDED';
      const left =
        capOfReveals === null ? Number.POSITIVE_INFINITY : capOfReveals - revealsUsed - heldReveals;
      return charge.reveals > 0 && charge.reveals > left ? 'REVEAL_LIMIT_REACHED' : null;
    },
    spend(charge) {
      turnMonth();
      unitsUsed += charge.cu;
      revealsUsed += charge.reveals;
      totalUnits += charge.cu;
      totalReveals += charge.reveals;
      if (terms.unmetered) return;
      const fromGrant = Math.min(grantLeft, charge.cu);
      grantLeft -= fromGrant;
      additional = Math.max(0, additional - (charge.cu - fromGrant));
    },
    hold(charge) {
      heldUnits += charge.cu;
      heldReveals += charge.reveals;
      let held = true;
      return () => {
        if (!held) return;
        held = false;
        heldUnits -= charge.cu;
        heldReveals -= charge.reveals;
      };
    },
    topUp(units) {
      additional += units;
      granted ||= units > 0;
    },
    unmetered: terms.unmetered,
    get empty() {
      return !terms.unmetered && !granted;
    },
    reading() {
      turnMonth();
      return {
        period,
        unitsUsed,
        unitsRemaining: terms.unmetered ? null : grantLeft,
        additionalUnits: additional,
        revealsUsed,
        revealsRemaining: capOfReveals === null ? null : Math.max(0, capOfReveals - revealsUsed),
        totalUnits,
        totalReveals,
      };
    },
  };
}
