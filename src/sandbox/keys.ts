import type { Charge } from '../contract/endpoint.ts';
import type { EndpointId, endpoints } from '../contract/endpoints.ts';
import { type PlanName, plans } from '../contract/limits.ts';

/** Scope names are an assumption: the service description does not list them. */
const scopes = [
  'identity:read',
  'numbers:read',
  'feed:read',
  'launchpad:read',
  'feed:live',
] as const;
export type Scope = (typeof scopes)[number];

/** The scope that the endpoints of a group require; null if they accept any key. */
export const scopeOfGroup: Record<(typeof endpoints)[EndpointId]['group'], Scope | null> = {
  identity: 'identity:read',
  numbers: 'numbers:read',
  theses: 'feed:read',
  launchpad: 'launchpad:read',
  account: null,
};

interface PlanTerms {
  readonly title: string;
  readonly ratePerMinute: number;
  readonly monthlyUnits: number;
  /**
   * Null means unlimited. The service description does not state this number, so it is an
   * assumption.
   */
  readonly revealsPerMonth: number | null;
  readonly live: boolean;
}

type SandboxPlan = PlanName | 'enterprise' | 'legacy';

const planTerms: Record<SandboxPlan, PlanTerms> = {
  explore: { ...plans.explore, revealsPerMonth: 100 },
  starter: { ...plans.starter, revealsPerMonth: 2_000 },
  builder: { ...plans.builder, revealsPerMonth: 10_000 },
  growth: { ...plans.growth, revealsPerMonth: 50_000 },
  scale: { ...plans.scale, revealsPerMonth: 200_000 },
  enterprise: {
    title: 'Enterprise',
    ratePerMinute: 6_000,
    monthlyUnits: 500_000_000,
    revealsPerMonth: null,
    live: true,
  },
  legacy: { ...plans.builder, title: 'Legacy', revealsPerMonth: 10_000, live: true },
};

export const planNames = Object.keys(planTerms) as SandboxPlan[];

export interface KeyOptions {
  readonly plan?: SandboxPlan | undefined;
  readonly mode?: 'live' | 'test';
  readonly key?: string;
  readonly scopes?: readonly Scope[];
  readonly ratePerMinute?: number;
  readonly monthlyUnits?: number | undefined;
  readonly revealsPerMonth?: number | null | undefined;
  readonly additionalUnits?: number | undefined;
  readonly unitsUsed?: number;
  /** Whether calls are only counted, but never rejected. */
  readonly unmetered?: boolean;
}

export interface Key {
  readonly id: string;
  readonly text: string;
  readonly mode: 'live' | 'test';
  readonly plan: SandboxPlan;
  readonly title: string;
  readonly ratePerMinute: number;
  readonly monthlyUnits: number;
  readonly revealsPerMonth: number | null;
  readonly unmetered: boolean;
  readonly scopes: ReadonlySet<Scope>;
  /** A free key gets its units only once, and reveals only the wallets of sample accounts. */
  readonly isFree: boolean;
  /** The UTC month that the counters below are of. */
  period: string;
  unitsUsed: number;
  revealsUsed: number;
  unitsRemaining: number;
  additionalUnits: number;
  /** The units and reveals that no other call can spend while a long call runs. */
  readonly reserved: { cu: number; reveals: number };
  totalUnits: number;
  totalReveals: number;
  /**
   * Whether the key ever had units: a key that is out of them gets another error than one without
   * an allowance.
   */
  wasGranted: boolean;
}

export function createKey(id: string, text: string, options: KeyOptions, now: number): Key {
  const { plan = 'growth', unmetered = false, additionalUnits = 0, unitsUsed = 0 } = options;
  const terms = planTerms[plan];
  const { monthlyUnits = terms.monthlyUnits, revealsPerMonth = terms.revealsPerMonth } = options;
  const granted = scopes.filter((scope) => terms.live || scope !== 'feed:live');
  return {
    id,
    text,
    mode: options.mode ?? 'test',
    plan,
    title: terms.title,
    ratePerMinute: options.ratePerMinute ?? terms.ratePerMinute,
    monthlyUnits,
    revealsPerMonth,
    unmetered,
    scopes: new Set(options.scopes ?? granted),
    isFree: plan === 'explore',
    period: monthOf(now),
    unitsUsed,
    revealsUsed: 0,
    unitsRemaining: Math.max(0, monthlyUnits - unitsUsed),
    additionalUnits,
    reserved: { cu: 0, reveals: 0 },
    totalUnits: 0,
    totalReveals: 0,
    wasGranted: monthlyUnits > 0 || additionalUnits > 0,
  };
}

/** Why a key cannot pay a charge. */
export type Shortage = 'QUOTA_EXCEEDED' | 'REVEAL_LIMIT_REACHED';

/** Why the key cannot pay the charge; null if it can. */
export function shortageOf(key: Key, { cu, reveals }: Charge, now: number): Shortage | null {
  renew(key, now);
  const { unitsRemaining, additionalUnits, revealsPerMonth, revealsUsed, reserved } = key;
  if (key.unmetered) return null;
  if (cu > unitsRemaining + additionalUnits - reserved.cu) return 'QUOTA_EXCEEDED';
  const isOver =
    revealsPerMonth !== null && reveals > revealsPerMonth - revealsUsed - reserved.reveals;
  return reveals > 0 && isOver ? 'REVEAL_LIMIT_REACHED' : null;
}

/**
 * Charges the grant of the month first, then top-ups; charges nothing and says why if both do not
 * suffice.
 */
export function chargeKey(key: Key, charge: Charge, now: number): Shortage | null {
  const shortage = shortageOf(key, charge, now);
  if (shortage) return shortage;
  key.unitsUsed += charge.cu;
  key.revealsUsed += charge.reveals;
  key.totalUnits += charge.cu;
  key.totalReveals += charge.reveals;
  if (key.unmetered) return null;
  const fromGrant = Math.min(key.unitsRemaining, charge.cu);
  key.unitsRemaining -= fromGrant;
  key.additionalUnits -= charge.cu - fromGrant;
  return null;
}

/** The `usage` of `me`; null where there is no limit. */
export interface KeyUsage {
  readonly period: string;
  readonly unitsUsed: number;
  readonly unitsRemaining: number | null;
  readonly additionalUnits: number;
  readonly revealsUsed: number;
  readonly revealsRemaining: number | null;
}

export function usageOf(key: Key, now: number): KeyUsage {
  renew(key, now);
  const {
    period,
    unitsUsed,
    unitsRemaining,
    additionalUnits,
    revealsUsed,
    unmetered,
    revealsPerMonth,
  } = key;
  const isCapped = !unmetered && revealsPerMonth !== null;
  return {
    period,
    unitsUsed,
    unitsRemaining: unmetered ? null : unitsRemaining,
    additionalUnits,
    revealsUsed,
    revealsRemaining: isCapped ? Math.max(0, revealsPerMonth - revealsUsed) : null,
  };
}

const monthOf = (now: number) => new Date(now).toISOString().slice(0, 7);

function renew(key: Key, now: number): void {
  if (monthOf(now) === key.period) return;
  key.period = monthOf(now);
  key.unitsUsed = 0;
  key.revealsUsed = 0;
  if (!key.isFree) key.unitsRemaining = key.monthlyUnits;
}
