import { hexOf, type Random } from '../random.ts';
import { createMeter, type Meter } from './key-meter.ts';
import { type PlanTerms, planTerms, type SandboxPlan, type Scope, scopesOf } from './plans.ts';
import { slidingWindow, type Window } from './rate-window.ts';

/** What a key can be made with; its plan fills in the rest. */
export interface KeyOptions {
  readonly plan?: SandboxPlan | undefined;
  readonly mode?: 'live' | 'test' | undefined;
  /** The key's text; made from the seed where none is given. */
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

/** A key, what it may do, and what it has used. */
export interface Key {
  /** Names the key where its text must not stand. */
  readonly id: string;
  readonly text: string;
  readonly mode: 'live' | 'test';
  readonly plan: SandboxPlan;
  readonly terms: PlanTerms;
  readonly scopes: ReadonlySet<Scope>;
  readonly meter: Meter;
  readonly window: Window;
}

const KEY_PREFIX = 'trdr';

/** Makes a key from its options. */
export function makeKey(options: KeyOptions, number: number, random: Random, now: () => number): Key {
  const plan = options.plan ?? 'growth';
  const mode = options.mode ?? 'test';
  const base = planTerms[plan];
  const terms: PlanTerms = {
    ...base,
    ratePerMinute: options.ratePerMinute ?? base.ratePerMinute,
    monthlyUnits: options.monthlyUnits ?? base.monthlyUnits,
    revealsPerMonth: options.revealsPerMonth === undefined ? base.revealsPerMonth : options.revealsPerMonth,
  };
  const meter = createMeter(
    {
      monthlyUnits: terms.monthlyUnits,
      revealsPerMonth: terms.revealsPerMonth,
      additionalUnits: options.additionalUnits ?? 0,
      unitsUsed: options.unitsUsed ?? 0,
      revealsUsed: options.revealsUsed ?? 0,
      unmetered: options.unmetered ?? false,
      once: terms.once,
    },
    now,
  );
  return {
    id: `key-${number}`,
    text: options.key ?? `${KEY_PREFIX}_${mode}_${hexOf(random, 32)}`,
    mode,
    plan,
    terms,
    scopes: new Set(options.scopes ?? scopesOf(plan)),
    meter,
    window: slidingWindow(terms.ratePerMinute, 60_000),
  };
}

/** The key that a request carries, by either header. */
export function keyOfHeaders(headers: NodeJS.Dict<string | string[]>): string | undefined {
  const bearer = /^Bearer\s+(\S+)\s*$/i.exec(headers['authorization']?.toString() ?? '');
  return bearer?.[1] ?? headers['x-api-key']?.toString().trim();
}
