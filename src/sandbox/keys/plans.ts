import type { EndpointId, endpoints } from '../../contract/endpoints.ts';
import { type PlanName, plans } from '../../contract/limits.ts';

export type SandboxPlan = PlanName | 'enterprise' | 'legacy';

/** Scope names are an assumption: the service description does not list them. */
const scopes = ['identity:read', 'numbers:read', 'feed:read', 'launchpad:read', 'feed:live'] as const;
export type Scope = (typeof scopes)[number];

/** The scope that the endpoints of a group require; null if they accept any key. */
export const scopeOfGroup: Record<(typeof endpoints)[EndpointId]['group'], Scope | null> = {
  identity: 'identity:read',
  numbers: 'numbers:read',
  theses: 'feed:read',
  launchpad: 'launchpad:read',
  account: null,
};

export interface PlanTerms {
  readonly title: string;
  readonly ratePerMinute: number;
  readonly monthlyUnits: number;
  /**
   * The number of reveals per month; null means unlimited. The service description does not state this
   * number, so it is an assumption.
   */
  readonly revealsPerMonth: number | null;
  readonly live: boolean;
  /** Whether units are granted only once instead of every month. */
  readonly grantedOnce: boolean;
  /** Whether only the wallets of sample accounts can be revealed. */
  readonly sampleOnly: boolean;
}

const paid = { live: true, grantedOnce: false, sampleOnly: false };

export const planTerms: Record<SandboxPlan, PlanTerms> = {
  explore: { ...plans.explore, revealsPerMonth: 100, grantedOnce: true, sampleOnly: true },
  starter: { ...paid, ...plans.starter, revealsPerMonth: 2_000 },
  builder: { ...paid, ...plans.builder, revealsPerMonth: 10_000 },
  growth: { ...paid, ...plans.growth, revealsPerMonth: 50_000 },
  scale: { ...paid, ...plans.scale, revealsPerMonth: 200_000 },
  enterprise: {
    ...paid,
    title: 'Enterprise',
    ratePerMinute: 6_000,
    monthlyUnits: 500_000_000,
    revealsPerMonth: null,
  },
  legacy: {
    ...paid,
    title: 'Legacy',
    ratePerMinute: 300,
    monthlyUnits: 5_000_000,
    revealsPerMonth: 10_000,
  },
};

export const planNames = Object.keys(planTerms) as SandboxPlan[];

export const scopesOf = (plan: SandboxPlan): readonly Scope[] =>
  planTerms[plan].live ? scopes : scopes.filter((scope) => scope !== 'feed:live');
