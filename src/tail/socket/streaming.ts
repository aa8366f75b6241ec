import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { BUDGET } from '../../contract/budget.ts';
import { cannotStream, outOfUnits, rejected, UNDELIVERED } from '../failures.ts';
import type { TailNotice } from '../notice.ts';
import type { TailOptions } from '../ports.ts';
import type { Planner } from '../spend/planner.ts';
import type { PollReason } from '../spend/stream-or-poll.ts';
import { type Money, resetsIn } from '../spend/units-left.ts';
import type { Walker } from '../walk/walker.ts';
import type { DownEvent, Session, SessionEvent } from './session.ts';

interface StreamingParts {
  readonly clock: Clock;
  readonly options: Pick<TailOptions, 'via' | 'waitForBudget'>;
  readonly session: Session;
  readonly planner: Planner;
  readonly money: Money;
  readonly walker: Walker;
  readonly notify: (notice: TailNotice) => void;
}

const MINUTE = 60_000;
/** How long before the end of a minute of the WebSocket the tail decides about the next one. */
const DECIDE_MS = 2_000;
/** The reasons to poll that end when a budget or the allowance renews. */
const renewing: ReadonlySet<PollReason> = new Set(['budget', 'units']);
/** The reasons that count only before a connection is opened. */
const beforehand: ReadonlySet<PollReason> = new Set(['socket', 'cheaper']);
const socketOnly: ReadonlySet<string> = new Set(['forbidden', 'missing', 'usage']);
const UNSTABLE_SESSIONS = 3;

/**
 * Decides, before each minute of the WebSocket and after each event of its session, between
 * streaming and polling.
 */
export class Streaming {
  /** Why the tail polls, although the feed has a WebSocket. */
  #polling: PollReason | undefined;
  /** Up to when the minutes of the connection were decided about, by the monotonic clock. */
  #decidedTo = Number.NEGATIVE_INFINITY;
  readonly #parts: StreamingParts;

  constructor(parts: StreamingParts) {
    this.#parts = parts;
  }

  /** Polls from the beginning of the run on. */
  begin(why: PollReason): void {
    this.#parts.session.poll();
    this.#polling = why;
  }

  /** When `step` must be called again even if no part wakes the loop. */
  due(mayDial: boolean): number {
    return Math.min(this.#parts.session.due(mayDial), this.#decideAt);
  }

  /** Returns whether anything happened. A failure that it throws ends the run. */
  step(mayDial: boolean): boolean {
    const { session } = this.#parts;
    const { kind } = session.state;
    if (kind === 'closing') return false;
    if (kind === 'polling') return this.#streamAgain();
    const why = kind === 'dialing' ? undefined : this.#objection(mayDial);
    if (why) {
      this.#leave(why);
      return true;
    }
    const event = session.step(mayDial);
    if (event) this.#handle(event);
    return event !== undefined;
  }

  /**
   * When to decide about the next minute: shortly before the last minute that was decided about
   * ends.
   */
  get #decideAt(): number {
    const { openedAt } = this.#parts.session;
    return openedAt === undefined
      ? Number.POSITIVE_INFINITY
      : Math.max(openedAt + MINUTE, this.#decidedTo) - DECIDE_MS;
  }

  /** Why no connection should be opened, or why its next minute should not be paid for. */
  #objection(mayDial: boolean): PollReason | undefined {
    const { clock, session, planner } = this.#parts;
    const { openedAt } = session;
    if (openedAt === undefined) return mayDial ? planner.plan().why : undefined;
    if (clock.mono() < this.#decideAt) return undefined;
    while (clock.mono() >= this.#decideAt)
      this.#decidedTo = Math.max(openedAt + MINUTE, this.#decidedTo) + MINUTE;
    const { why } = planner.plan();
    return why !== undefined && beforehand.has(why) ? undefined : why;
  }

  /**
   * Polls for this reason. With --via ws, this is an error, unless streaming is possible again
   * later.
   */
  #leave(why: PollReason, detail?: string): void {
    const { options, session, planner, walker, notify } = this.#parts;
    session.poll();
    this.#polling = why;
    const mayReturn = renewing.has(why) && options.waitForBudget;
    if (options.via === 'ws' && !mayReturn) throw cannotStream(why);
    const { perMinute } = planner.plan();
    notify({
      kind: 'fallback',
      why,
      detail,
      perMinute: perMinute.poll,
      stretched: planner.stretched(),
    });
    walker.want();
  }

  /**
   * Returns to streaming when a budget or the allowance has renewed and covers the cost of
   * streaming.
   */
  #streamAgain(): boolean {
    const { session, planner, notify } = this.#parts;
    const why = this.#polling;
    if (why === undefined || !renewing.has(why)) return false;
    const plan = planner.plan();
    if (plan.why !== undefined) return false;
    this.#polling = undefined;
    session.reopen();
    notify({ kind: 'streamAgain', why, perMinute: plan.perMinute.ws });
    return true;
  }

  #handle(event: SessionEvent): void {
    const { options, walker, notify } = this.#parts;
    switch (event.kind) {
      case 'subscribed':
        walker.subscribed();
        notify({ kind: 'connected' });
        return;
      case 'quota':
        this.#withoutUnits(outOfUnits(event.text));
        return;
      case 'rejected':
        if (options.via === 'ws') throw rejected(event.text);
        this.#leave('socket', `the service rejected the subscription: ${event.text}`);
        return;
      case 'down':
        this.#down(event);
    }
  }

  #down({ failure, why, text, waitMs }: DownEvent): void {
    const { options, session, money, notify } = this.#parts;
    if (failure?.kind === 'quota') this.#withoutUnits(failure);
    else if (failure?.kind === 'auth') throw failure;
    else if (failure?.kind === 'limit') {
      const isBudget = failure.code === BUDGET;
      if (isBudget) money.refused(1_000 * (failure.retryAfter ?? 0), 'budget');
      this.#leave(isBudget ? 'budget' : 'ceiling');
    } else if (failure && socketOnly.has(failure.kind)) {
      if (options.via === 'ws') throw asRefusal(failure);
      this.#leave('socket', failure.message);
    } else if (why === 'incomplete' && !session.hasDelivered) this.#leave('socket', UNDELIVERED);
    else {
      notify({ kind: 'down', why, text, waitMs });
      const { shortSessions } = session;
      if (options.via === 'ws' && shortSessions >= UNSTABLE_SESSIONS)
        notify({ kind: 'unstable', sessions: shortSessions });
    }
  }

  /** Whether the run waits until the allowance of the key renews. */
  get #waitsForKey(): boolean {
    return this.#parts.options.waitForBudget === true && !this.#parts.money.isGrantedOnce;
  }

  /**
   * The units of the key do not cover a minute, so the service would close every new connection
   * until they reset. They may still cover polls.
   */
  #withoutUnits(failure: Failure): void {
    const { money, clock, options } = this.#parts;
    if (options.via === 'ws' && !this.#waitsForKey) throw failure;
    money.refused(resetsIn(clock.now()), 'key');
    this.#leave('units');
  }
}

/** A handshake asks for no subject, so HTTP 404 does not mean that one is missing. */
const asRefusal = (failure: Failure): Failure =>
  failure.kind === 'missing' ? new Failure('service', failure.message, failure) : failure;
