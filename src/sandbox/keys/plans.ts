import { type PlanName, plans } from '../../contract/limits.ts';

/** Every plan a key can have; Enterprise is per contract, a legacy plan keeps the access it has. */
export type SandboxPlan = PlanName | 'enterprise' | 'legacy';

/** The scopes' names are the sandbox's own: the service does not show its. */
export const scopes = ['identity:read', 'numbers:read', 'feed:read', 'launchpad:read', 'feed:live'] as const;
export type Scope = (typeof scopes)[number];

/** What a plan gives a key where the key's own options say nothing else. */
export interface PlanTerms {
  readonly title: string;
  readonly ratePerMinute: number;
  readonly monthlyUnits: number;
  /** The size of this allowance is not stated by the service; null is no cap. */
  readonly revealsPerMonth: number | null;
  readonly live: boolean;
  /** Granted once instead of each month. */
  readonly once: boolean;
  /** Wallets of sample accounts only. */
  readonly sampleOnly: boolean;
}

const paid = { once: false, sampleOnly: false };

export const planTerms: Record<SandboxPlan, PlanTerms> = {
  explore: { ...plans.explore, revealsPerMonth: 100, once: true, sampleOnly: true },
  starter: { ...plans.starter, ...paid, revealsPerMonth: 2_000 },
  builder: { ...plans.builder, ...paid, revealsPerMonth: 10_000 },
  growth: { ...plans.growth, ...paid, revealsPerMonth: 50_000 },
  scale: { ...plans.scale, ...paid, revealsPerMonth: 200_000 },
  enterprise: {
    ...paid,
    title: 'Enterprise',
    ratePerMinute: 6_000,
    monthlyUnits: 500_000_000,
    revealsPerMonth: null,
    live: true,
  },
  legacy: {
    ...paid,
    title: 'Legacy',
    ratePerMinute: 300,
    monthlyUnits: 5_000_000,
    revealsPerMonth: 10_000,
    live: true,
  },
};

export const planNames = Object.keys(planTerms) as SandboxPlan[];

/** The scopes that a plan's keys carry. */
export const scopesOf = (plan: SandboxPlan): readonly Scope[] =>
  planTerms[plan].live ? scopes : scopes.filter((scope) => scope !== 'feed:live');
