import type { FeedRate } from '../feed-rate.ts';
import type { Stretched } from '../notice.ts';
import type { TailOptions, TailPorts } from '../ports.ts';
import type { Session } from '../socket/session.ts';
import type { TailEnd } from '../tail-end.ts';
import type { Timing } from '../timing.ts';
import type { Walker } from '../walk/walker.ts';
import { planSpend, type SpendPlan } from './stream-or-poll.ts';
import type { Money } from './units-left.ts';

interface PlannerParts {
  readonly ports: Pick<TailPorts, 'clock' | 'source' | 'spent'>;
  readonly hasSocket: boolean;
  readonly options: Pick<TailOptions, 'via' | 'cheapest' | 'lagMs' | 'limitLeft'>;
  readonly timing: Pick<Timing, 'latenessMs'>;
  readonly money: Pick<Money, 'facts' | 'allowanceLeft' | 'budgets' | 'refusedUntil' | 'shareLeft'>;
  readonly session: Pick<Session, 'isConnected' | 'minutes' | 'shortSessions'>;
  readonly walker: Pick<Walker, 'auditMs' | 'isStarted' | 'lastAt'>;
  readonly rate: Pick<FeedRate, 'perSecond'>;
  readonly end: Pick<TailEnd, 'leftMs'>;
}

/**
 * Plans whether the run streams or polls, how often, and what this costs: from what the other parts
 * know now.
 */
export class Planner {
  readonly #parts: PlannerParts;

  constructor(parts: PlannerParts) {
    this.#parts = parts;
  }

  plan(): SpendPlan {
    const { ports, hasSocket, options, timing, money, session, walker, rate, end } = this.#parts;
    const { clock, source } = ports;
    const now = clock.now();
    const plan = planSpend({
      via: options.via,
      cheapest: options.cheapest ?? false,
      hasSocket,
      live: money.facts?.live ?? null,
      lagMs: options.lagMs,
      rate: rate.perSecond,
      ratePerMinute: money.facts?.ratePerMinute ?? null,
      step: source.sizes.step,
      stepCu: source.stepCu,
      auditMs: walker.auditMs,
      latenessMs: timing.latenessMs,
      limitLeft: options.limitLeft?.() ?? null,
      allowanceLeft: money.allowanceLeft,
      // What a renewed budget has left is not known before the next answer of `me`.
      budgets: money.budgets.filter(({ renewsAt }) => renewsAt > now),
      reserved: ports.spent().openMinutes ?? 0,
      shareLeft: money.shareLeft(session.minutes),
      shortSessions: session.shortSessions,
      now,
      runLeftMs: end.leftMs,
      sincePollMs: walker.isStarted ? clock.mono() - walker.lastAt : 0,
    });
    if (plan.why !== undefined || !this.#mustWait(now)) return plan;
    return { ...plan, why: 'budget' };
  }

  /** If a budget makes the interval of polls longer than asked for: how long, and until when. */
  stretched(): Stretched | undefined {
    const { pollMs, until } = this.plan();
    return until === undefined ? undefined : { everyMs: pollMs, until };
  }

  /**
   * Whether streaming must not begin yet: a minute was refused, or it is not known what a renewed
   * budget has left.
   */
  #mustWait(now: number): boolean {
    const { money, session } = this.#parts;
    if (now < money.refusedUntil) return true;
    return !session.isConnected && money.budgets.some(({ renewsAt }) => renewsAt <= now);
  }
}
