import type { Charge } from '../../contract/endpoint.ts';
import { type Random, randomHex } from '../random.ts';
import { type PlanTerms, planTerms, type SandboxPlan, type Scope, scopesOf } from './plans.ts';

export interface KeyOptions {
  readonly plan?: SandboxPlan | undefined;
  readonly mode?: 'live' | 'test';
  /** The text of the key; by default, it is generated from the seed. */
  readonly key?: string;
  readonly scopes?: readonly Scope[];
  readonly ratePerMinute?: number;
  readonly monthlyUnits?: number;
  readonly revealsPerMonth?: number | null;
  readonly additionalUnits?: number;
  readonly unitsUsed?: number;
  readonly revealsUsed?: number;
  readonly unmetered?: boolean;
}

/** A key, with its permissions and its usage. */
export interface Key {
  readonly id: string;
  readonly text: string;
  readonly mode: 'live' | 'test';
  readonly plan: SandboxPlan;
  readonly terms: PlanTerms;
  readonly scopes: ReadonlySet<Scope>;
  /** Whether calls are only counted, but never rejected. */
  readonly unmetered: boolean;
  readonly usage: Usage;
}

/** The usage of this month, and the totals of all charges since the sandbox created the key. */
interface Usage {
  period: string;
  unitsUsed: number;
  revealsUsed: number;
  /** What is left of the units that the month granted. */
  unitsRemaining: number;
  additionalUnits: number;
  /** Amounts that no other call can spend while a long call runs. */
  reservedUnits: number;
  reservedReveals: number;
  totalUnits: number;
  totalReveals: number;
  /** Whether the key ever had an allowance. */
  wasGranted: boolean;
}

export function createKey(options: KeyOptions, number: number, random: Random, now: number): Key {
  const { plan = 'growth', mode = 'test', unmetered = false, scopes = scopesOf(plan) } = options;
  const { ratePerMinute, monthlyUnits, revealsPerMonth } = { ...planTerms[plan], ...options };
  const { additionalUnits = 0, unitsUsed = 0, revealsUsed = 0 } = options;
  return {
    id: `key-${number}`,
    text: options.key ?? `trdr_${mode}_${randomHex(random, 32)}`,
    mode,
    plan,
    terms: { ...planTerms[plan], ratePerMinute, monthlyUnits, revealsPerMonth },
    scopes: new Set(scopes),
    unmetered,
    usage: {
      period: monthOf(now),
      unitsUsed,
      revealsUsed,
      unitsRemaining: Math.max(0, monthlyUnits - unitsUsed),
      additionalUnits,
      reservedUnits: 0,
      reservedReveals: 0,
      totalUnits: 0,
      totalReveals: 0,
      wasGranted: monthlyUnits > 0 || additionalUnits > 0,
    },
  };
}

type Shortage = 'QUOTA_EXCEEDED' | 'REVEAL_LIMIT_REACHED';

/** Returns why a key cannot pay a charge; null if it can. */
export function shortageOf(key: Key, { cu, reveals }: Charge, now: number): Shortage | null {
  const { unitsRemaining, additionalUnits, revealsUsed, reservedUnits, reservedReveals } = usageAt(key, now);
  const { revealsPerMonth } = key.terms;
  if (key.unmetered) return null;
  if (cu > unitsRemaining + additionalUnits - reservedUnits) return 'QUOTA_EXCEEDED';
  const isOver = revealsPerMonth !== null && reveals > revealsPerMonth - revealsUsed - reservedReveals;
  return reveals > 0 && isOver ? 'REVEAL_LIMIT_REACHED' : null;
}

/** Charges a key: first the grant of the month, then top-ups. Returns why if the key cannot pay. */
export function chargeKey(key: Key, charge: Charge, now: number): Shortage | null {
  const shortage = shortageOf(key, charge, now);
  if (shortage) return shortage;
  const { usage } = key;
  usage.unitsUsed += charge.cu;
  usage.revealsUsed += charge.reveals;
  usage.totalUnits += charge.cu;
  usage.totalReveals += charge.reveals;
  if (key.unmetered) return null;
  const fromGrant = Math.min(usage.unitsRemaining, charge.cu);
  usage.unitsRemaining -= fromGrant;
  usage.additionalUnits -= charge.cu - fromGrant;
  return null;
}

/** Reserves the amount of a charge during a long call. Returns a function that ends the reservation. */
export function reserve({ usage }: Key, { cu, reveals }: Charge): () => void {
  usage.reservedUnits += cu;
  usage.reservedReveals += reveals;
  return () => {
    usage.reservedUnits -= cu;
    usage.reservedReveals -= reveals;
  };
}

export function topUp({ usage }: Key, units: number): void {
  usage.additionalUnits += units;
  usage.wasGranted ||= units > 0;
}

/** The usage of a key as `me` shows it, and the totals. */
export function meterOf(key: Key, now: number) {
  const { period, unitsUsed, unitsRemaining, additionalUnits, revealsUsed, totalUnits, totalReveals } =
    usageAt(key, now);
  const cap = key.unmetered ? null : key.terms.revealsPerMonth;
  return {
    period,
    unitsUsed,
    unitsRemaining: key.unmetered ? null : unitsRemaining,
    additionalUnits,
    revealsUsed,
    revealsRemaining: cap === null ? null : Math.max(0, cap - revealsUsed),
    totalUnits,
    totalReveals,
  };
}

const monthOf = (now: number) => new Date(now).toISOString().slice(0, 7);

/** The usage at a time, renewed if a new month has begun. */
function usageAt({ usage, terms }: Key, now: number): Usage {
  if (monthOf(now) === usage.period) return usage;
  usage.period = monthOf(now);
  usage.unitsUsed = 0;
  usage.revealsUsed = 0;
  if (!terms.grantedOnce) usage.unitsRemaining = terms.monthlyUnits;
  return usage;
}
