import { type Random, randomHex } from '../random.ts';
import { createKeyMeter, type KeyMeter } from './key-meter.ts';
import { type PlanTerms, planTerms, type SandboxPlan, type Scope, scopesOf } from './plans.ts';
import { type RateWindow, slidingWindow } from './rate-window.ts';

/** The options of a key. The plan determines the defaults. */
export interface KeyOptions {
  readonly plan?: SandboxPlan | undefined;
  readonly mode?: 'live' | 'test' | undefined;
  /** The text of the key; by default, it is generated from the seed. */
  readonly key?: string | undefined;
  readonly scopes?: readonly Scope[] | undefined;
  readonly ratePerMinute?: number | undefined;
  readonly monthlyUnits?: number | undefined;
  readonly revealsPerMonth?: number | null | undefined;
  readonly additionalUnits?: number | undefined;
  readonly unitsUsed?: number | undefined;
  readonly revealsUsed?: number | undefined;
  readonly unmetered?: boolean | undefined;
}

/** A key, with its permissions and usage. */
export interface Key {
  /** Identifies the key in logs without revealing its text. */
  readonly id: string;
  readonly text: string;
  readonly mode: 'live' | 'test';
  readonly plan: SandboxPlan;
  readonly terms: PlanTerms;
  readonly scopes: ReadonlySet<Scope>;
  readonly meter: KeyMeter;
  readonly window: RateWindow;
}

const KEY_PREFIX = 'trdr';

export function createKey(options: KeyOptions, number: number, random: Random, now: () => number): Key {
  const plan = options.plan ?? 'growth';
  const mode = options.mode ?? 'test';
  const base = planTerms[plan];
  const terms: PlanTerms = {
    ...base,
    ratePerMinute: options.ratePerMinute ?? base.ratePerMinute,
    monthlyUnits: options.monthlyUnits ?? base.monthlyUnits,
    revealsPerMonth: options.revealsPerMonth === undefined ? base.revealsPerMonth : options.revealsPerMonth,
  };
  const meter = createKeyMeter(
    {
      monthlyUnits: terms.monthlyUnits,
      revealsPerMonth: terms.revealsPerMonth,
      additionalUnits: options.additionalUnits ?? 0,
      unitsUsed: options.unitsUsed ?? 0,
      revealsUsed: options.revealsUsed ?? 0,
      unmetered: options.unmetered ?? false,
      grantedOnce: terms.grantedOnce,
    },
    now,
  );
  return {
    id: `key-${number}`,
    text: options.key ?? `${KEY_PREFIX}_${mode}_${randomHex(random, 32)}`,
    mode,
    plan,
    terms,
    scopes: new Set(options.scopes ?? scopesOf(plan)),
    meter,
    window: slidingWindow(terms.ratePerMinute, 60_000),
  };
}

/** The key of a request. Two headers can contain the key. */
export function keyFromHeaders(headers: NodeJS.Dict<string | string[]>): string | undefined {
  const bearer = /^Bearer\s+(\S+)\s*$/i.exec(headers['authorization']?.toString() ?? '');
  return bearer?.[1] ?? headers['x-api-key']?.toString().trim();
}
