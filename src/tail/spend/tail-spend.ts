import { Failure } from '../../base/failure.ts';
import { cu } from '../../contract/prices.ts';
import { type Job, startJob } from '../job.ts';
import type { Stretched } from '../notice.ts';
import type { TailOptions } from '../options.ts';
import type { BudgetLeft, KeyFacts, TailPorts } from '../ports.ts';
import type { Timing } from '../timing.ts';
import { createBudgetPlan } from './budget-plan.ts';
import type { CostMeter } from './cost-meter.ts';
import { leastSeconds, type PagePrice, pollPerMinute, pollSeconds, type Rate } from './pace.ts';
import { createShare } from './share.ts';
import { type Mode, type PollReason, reasonToPoll, STREAM_RESERVE, type Via } from './socket-share.ts';

/** Decides what the tail may spend on pages and on the WebSocket. */
export interface TailSpend {
  /** Whether the spending limit covers another `cu`; a promise while the user is asked to raise the limit. */
  afford(cu: number): boolean | Promise<boolean>;
  /** The CU left of the spending limit and of the key's allowance (null if unlimited or not known), and of budgets. */
  readonly left: {
    readonly ceiling: number | null;
    readonly allowance: number | null;
    readonly budgets: readonly BudgetLeft[];
  };
  /** The polling interval in milliseconds. */
  readonly pollMs: number;
  /** The CU per minute of a mode. */
  perMinute(mode: Mode): number;
  /** Why another minute of the WebSocket should not be paid for; undefined if it may be paid for. */
  against(shortSessions: number): PollReason | undefined;
  /**
   * Asks the user to raise the limit so that it covers more streaming; returns false if the user cannot be
   * asked.
   */
  askToStream(): boolean;
  /** Returns the user's answer once; undefined if there is no answer yet, or if it was returned before. */
  takeAnswer(): boolean | undefined;
  /** Requests `me`, which is free, if it is due. */
  step(mode: Mode): void;
  /** Called when a budget or the allowance did not cover a minute of the WebSocket. */
  refused(retryAfterMs: number): void;
  /** The polling interval, if a budget makes the interval longer than the requested lag. */
  readonly stretched: Stretched | undefined;
  readonly due: number;
  /** Resolves after the first response of `me`; throws if the service rejects the key. */
  first(wait: () => Promise<void>): Promise<void>;
  settled(): Promise<void>;
}

interface TailSpendParts {
  readonly world: Pick<TailPorts, 'clock' | 'key'>;
  readonly timing: Timing;
  readonly meter: CostMeter;
  readonly rate: Rate;
  readonly price: PagePrice;
  readonly via: Via;
  readonly hasSocket: boolean;
  readonly lagMs: number;
  readonly durationMs: number | undefined;
  readonly ceiling: TailOptions['ceiling'];
  readonly raise?: TailOptions['raise'];
  readonly socketShare: number;
  readonly wake: () => void;
  readonly signal: AbortSignal;
}

/** Creates the part that decides on spending. Before the first response of `me`, it has no facts about the key. */
export function createTailSpend({ world, timing, meter, rate, price, ...given }: TailSpendParts): TailSpend {
  const { clock, key } = world;
  let facts: KeyFacts | undefined;
  const share = createShare(clock, () => meter.socket);
  let job: Job<KeyFacts> | undefined;
  let next = clock.mono();

  const began = clock.mono();
  const plan = createBudgetPlan({
    clock,
    price,
    marginMs: timing.marginMs,
    auditMs: timing.auditMs,
    runLeftMs: () =>
      given.durationMs === undefined ? Number.POSITIVE_INFINITY : began + given.durationMs - clock.mono(),
  });

  const ceilingLeft = () => {
    const ceiling = typeof given.ceiling === 'function' ? given.ceiling() : given.ceiling;
    return ceiling === undefined ? null : ceiling - meter.spent.most;
  };
  const fits = (units: number) => (ceilingLeft() ?? units) >= units;

  const raiseTo = async (units: number): Promise<boolean> => {
    while (!fits(units)) if (!(await given.raise?.(units, meter.spent.most))) return false;
    return true;
  };
  let question: Job<boolean> | undefined;

  const wantedSeconds = () => {
    const least = leastSeconds(facts?.ratePerMinute ?? null);
    return pollSeconds(rate.perSecond, given.lagMs / 1_000, least, price);
  };
  // With --via poll, always use the requested interval, even if the budgets are then used up before they renew.
  const interval = (): { readonly seconds: number; readonly until?: number } =>
    given.via === 'poll'
      ? { seconds: wantedSeconds() }
      : plan.interval(wantedSeconds(), rate.perSecond, meter.spent.most);
  const pollMs = () => 1_000 * interval().seconds;

  const look = (): unknown => {
    const outcome = job?.outcome;
    if (!outcome) return undefined;
    job = undefined;
    if ('error' in outcome) return outcome.error;
    facts = outcome.value;
    share.learn(facts.remaining);
    plan.learn(facts.budgets ?? [], meter.spent.most);
    // Request `me` again as soon as a budget renews.
    next = Math.min(next, clock.mono() + Math.max(0, plan.renewsAt - clock.now()) + 1);
    return undefined;
  };

  const step = (mode: Mode) => {
    look();
    if (!key || job || clock.mono() < next) return;
    next = clock.mono() + (mode === 'ws' ? timing.keyMs : 10 * timing.keyMs);
    job = startJob(given.wake, () => key(given.signal));
  };

  return {
    afford: (units) => fits(units) || (given.raise ? raiseTo(units) : false),
    askToStream() {
      if (!given.raise) return false;
      question ??= startJob(given.wake, () => raiseTo(STREAM_RESERVE));
      return true;
    },
    takeAnswer() {
      const outcome = question?.outcome;
      if (!outcome) return undefined;
      question = undefined;
      if ('error' in outcome) throw outcome.error;
      return outcome.value;
    },
    get left() {
      return { ceiling: ceilingLeft(), allowance: facts?.remaining ?? null, budgets: facts?.budgets ?? [] };
    },
    get pollMs() {
      return pollMs();
    },
    perMinute: (mode) =>
      mode === 'ws' ? cu.socketMinute : pollPerMinute(rate.perSecond, pollMs() / 1_000, price),
    against: (shortSessions) =>
      reasonToPoll({
        via: given.via,
        hasSocket: given.hasSocket,
        live: facts?.live ?? null,
        ceilingLeft: ceilingLeft(),
        allowanceLeft: facts?.remaining ?? null,
        budgetsCover: plan.covers(meter.spent.most, given.via === 'auto'),
        allowanceAtStart: share.of,
        socketShare: given.socketShare,
        socketSpent: share.used,
        shortSessions,
      }),
    step,
    refused: (ms) => plan.refuse(clock.now() + ms),
    get stretched() {
      const { seconds, until } = interval();
      return until === undefined ? undefined : { everyMs: 1_000 * seconds, until };
    },
    get due() {
      return key ? next : Number.POSITIVE_INFINITY;
    },
    async first(wait) {
      step('ws');
      while (job && !given.signal.aborted) {
        await wait();
        const error = look();
        // Ignore other failures: if they persist, page requests will report them.
        if (error instanceof Failure && error.kind === 'auth') throw error;
      }
    },
    settled: async () => job?.settled,
  };
}
