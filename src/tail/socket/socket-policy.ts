import type { Clock } from '../../base/clock.ts';
import { BUDGET } from '../../contract/budget.ts';
import { cannotStream, outOfUnits, rejected } from '../failures.ts';
import type { TailNotice } from '../notice.ts';
import type { CostMeter } from '../spend/cost-meter.ts';
import { resetsIn } from '../spend/renewal.ts';
import type { PollReason, Via } from '../spend/socket-share.ts';
import type { TailSpend } from '../spend/tail-spend.ts';
import type { Session, SessionEvent } from './session.ts';

/** Decides when a WebSocket is opened, and when the tail uses polling instead. */
export interface SocketPolicy {
  /**
   * Advances the session; returns whether anything happened. `quiet` is false while a walk or a write is in
   * progress; no connection is opened then.
   */
  step(quiet: boolean): boolean;
  /** When `step` must be called again even if no part wakes the loop. */
  due(quiet: boolean): number;
  /**
   * Switches to polling for this reason. If a budget or the allowance is the reason, streaming is possible again
   * after it renews.
   */
  poll(why: PollReason): void;
  /**
   * Called after a walk, with the number of posts that it found and that the WebSocket had not delivered. The
   * previous walk, which started at `since`, did not find them. If the service has not confirmed the subscription,
   * the connection is closed after `MISSED_POSTS` such posts.
   */
  sawPosts(posts: number, since: number): void;
}

interface PolicyParts {
  readonly clock: Clock;
  readonly session: Session;
  readonly via: Via;
  readonly waitForBudget: boolean;
  readonly spend: TailSpend;
  readonly meter: CostMeter;
  readonly notify: (notice: TailNotice) => void;
  /** Called when a subscription was confirmed. */
  readonly subscribed: () => void;
  /** Called when the tail switches to polling. */
  readonly polls: () => void;
}

const MINUTE = 60_000;
/** How long before the end of a paid minute the tail decides about the next minute. */
const DECIDE_MS = 2_000;
/**
 * A connection whose subscription is not confirmed is closed when pages contained this many posts that the
 * connection did not deliver.
 */
const MISSED_POSTS = 5;
/** The reasons to poll that end when a budget or the allowance renews. */
const renewing: ReadonlySet<PollReason> = new Set(['budget', 'quota', 'allowance', 'share']);
/** Handshake failures that do not prevent polling. */
const socketOnly = new Set(['forbidden', 'missing', 'usage']);

/** Creates the policy. A failure thrown by `step` ends the run. */
export function createSocketPolicy(parts: PolicyParts): SocketPolicy {
  const { clock, session, via, spend, meter, notify } = parts;
  let missed = 0;
  let decided = 0;
  let decidedFor: number | undefined;
  let polling: PollReason | undefined;

  const poll = (why: PollReason, asks = false) => {
    session.poll();
    polling = why;
    const forBudget = why === 'budget' || why === 'quota';
    // With --via ws, polling is an error, except while the user is asked to raise the limit: it then keeps the lag small.
    if (via === 'ws' && !asks && !(forBudget && parts.waitForBudget)) throw cannotStream(why);
  };

  const leave = (why: PollReason) => {
    const asks = why === 'ceiling' && spend.askToStream();
    poll(why, asks);
    notify({ kind: 'fallback', why, perMinute: spend.perMinute('poll'), stretched: spend.stretched });
    parts.polls();
  };

  /** Returns to streaming when a budget or the allowance has renewed and covers the cost of streaming. */
  const reopen = (): boolean => {
    const why = polling;
    if (why === undefined || !renewing.has(why) || spend.against(0) !== undefined) return false;
    polling = undefined;
    session.reopen();
    notify({ kind: 'streamAgain', why, perMinute: spend.perMinute('ws') });
    return true;
  };

  /** Handles the user's answer to the question whether to raise the limit. */
  const answered = (): boolean => {
    const granted = spend.takeAnswer();
    if (granted === undefined) return false;
    if (granted) session.reopen();
    else if (via === 'ws') throw cannotStream('ceiling');
    return granted;
  };

  const decideAt = () =>
    session.openedAt === undefined
      ? Number.POSITIVE_INFINITY
      : session.openedAt + (decided + 1) * MINUTE - DECIDE_MS;

  /**
   * Returns why a connection should not be opened, or why its next minute should not be paid for. While a
   * connection is open, the check runs only shortly before the next minute starts.
   */
  const objection = (quiet: boolean): PollReason | undefined => {
    if (session.openedAt === undefined) return quiet ? spend.against(session.shortSessions) : undefined;
    if (decidedFor !== session.openedAt) decided = 0;
    decidedFor = session.openedAt;
    if (clock.mono() < decideAt()) return undefined;
    while (clock.mono() >= decideAt()) decided++;
    return spend.against(0);
  };

  /**
   * Switches to polling until the allowance of the key resets, because the service would close every new
   * connection. Called only with `waitForBudget`, with which the walks wait for the reset too.
   */
  const withoutUnits = () => {
    spend.refused(resetsIn(clock.now()));
    leave('quota');
  };

  const down = (event: Extract<SessionEvent, { kind: 'down' }>) => {
    const { failure } = event;
    if (failure?.kind === 'quota' && parts.waitForBudget) return withoutUnits();
    if (failure?.kind === 'quota' || failure?.kind === 'auth') throw failure;
    if (failure?.code === BUDGET) {
      spend.refused(1_000 * (failure.retryAfter ?? 0));
      return leave('budget');
    }
    if (failure && socketOnly.has(failure.kind)) {
      if (via === 'ws') throw failure;
      return leave('refused');
    }
    notify({ kind: 'down', why: event.why, text: event.text, waitMs: event.waitMs });
    if (via === 'ws' && session.shortSessions >= 3) {
      notify({ kind: 'unstable', sessions: session.shortSessions, cuAtMost: meter.socket });
    }
  };

  const handle = (event: SessionEvent) => {
    switch (event.kind) {
      case 'subscribed':
        parts.subscribed();
        return notify({ kind: 'connected', times: session.connections });
      case 'unacknowledged':
        return notify({ kind: 'unacknowledged' });
      case 'quota':
        if (parts.waitForBudget) return withoutUnits();
        throw outOfUnits(event.text);
      case 'rejected':
        if (via === 'ws') throw rejected(event.text);
        notify({ kind: 'frame', text: event.text });
        return leave('rejected');
      case 'down':
        return down(event);
    }
  };

  return {
    step(quiet) {
      const { kind } = session.state;
      if (kind === 'polling') return answered() || reopen();
      if (kind === 'closing') return false;
      const why = objection(quiet);
      if (why) {
        leave(why);
        return true;
      }
      const event = session.step(quiet);
      if (event) handle(event);
      return event !== undefined;
    },
    poll,
    due: (quiet) => Math.min(session.due(quiet), decideAt()),
    sawPosts(posts, since) {
      const late = session.unansweredSince;
      // Do not count posts from before the connection, or posts that may still arrive.
      missed = late !== undefined && since >= late ? missed + posts : 0;
      if (missed >= MISSED_POSTS) {
        session.drop('unanswered', 'the service did not confirm the subscription and delivered no posts');
      }
    },
  };
}
