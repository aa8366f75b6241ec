import { createBackoff } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import type { Subscription } from '../../contract/frames.ts';
import { type Job, startJob } from '../job.ts';
import type { DownReason } from '../notice.ts';
import type { Connect, Link } from '../ports.ts';
import type { CostMeter } from '../spend/cost-meter.ts';
import { modeOf, subscribedLink, type TailState } from '../state.ts';
import type { Timing } from '../timing.ts';
import { waitAfter } from '../wait-after.ts';
import { createHeartbeat } from './heartbeat.ts';
import { readConfirmation, type SubscribingLink, withPutBack } from './subscribing-link.ts';

/** An event of the connection. */
export type SessionEvent =
  | { readonly kind: 'subscribed' }
  /** The service has not acknowledged the subscription yet. */
  | { readonly kind: 'unacknowledged' }
  | { readonly kind: 'rejected'; readonly text: string }
  | { readonly kind: 'quota'; readonly text: string }
  | {
      readonly kind: 'down';
      readonly why: DownReason;
      readonly text: string;
      readonly waitMs: number;
      /** The failure of the handshake, or the failure that made this machine close the connection. */
      readonly failure: Failure | undefined;
    };

/**
 * Opens a connection, subscribes, monitors the connection and replaces it when it ends. There is one
 * connection at a time. Only the session changes the state of the tail.
 */
export interface Session {
  readonly state: TailState;
  /** Advances the session and returns the next event. No connection is opened while `mayDial` is false. */
  step(mayDial: boolean): SessionEvent | undefined;
  /** When `step` must be called again even if no part wakes the loop. */
  due(mayDial: boolean): number;
  /** The monotonic time at which the connection was opened; undefined if there is no connection. */
  readonly openedAt: number | undefined;
  /**
   * The number of consecutive connections that ended within a minute, or delivered no posts although the feed
   * had some.
   */
  readonly shortSessions: number;
  /** Since when the response to the subscription has been overdue; undefined if it is not overdue. */
  readonly unansweredSince: number | undefined;
  readonly connections: number;
  /** Called after a walk that started after the subscription. Allows frames to be printed. */
  goLive(): void;
  /** Stops printing frames until the next walk. */
  catchUp(): void;
  /** Closes the connection; the session opens a new one. */
  drop(why: DownReason, text: string): void;
  /** Closes the connection and switches to polling. */
  poll(): void;
  /** Ends polling, so that a connection may be opened again. */
  reopen(): void;
  /** Closes the connection permanently: no other connection is opened. */
  close(): void;
  /** Resolves when no connection is being opened or closed. */
  settled(): Promise<void>;
}

/** The longest time that the service may need to notice that its pings get no answer. */
const PING_MS = 60_000;

interface SessionWorld {
  readonly clock: Clock;
  readonly random: () => number;
  readonly timing: Timing;
  /** Opens the WebSocket; undefined if the feed has no WebSocket. */
  readonly connect: Connect | undefined;
  readonly subscription: Subscription;
  readonly meter: CostMeter;
  readonly wake: () => void;
  readonly signal: AbortSignal;
}

/** Creates a session. The session begins unconnected, or with polling if the feed has no WebSocket. */
export function createSession(world: SessionWorld): Session {
  const { clock, timing, meter } = world;
  const backoff = createBackoff(timing.backoffMs, timing.backoffMaxMs, world.random);
  const heartbeat = createHeartbeat(clock, timing);
  const { connect } = world;
  const began = clock.mono();
  let state: TailState = connect ? { kind: 'down', since: began, until: began } : { kind: 'polling' };
  let openedAt: number | undefined;
  let shortSessions = 0;
  let connections = 0;
  let cause: Cause | undefined;
  let closing: Promise<void> | undefined;

  const dial = (since: number) => {
    if (!connect) return;
    state = { kind: 'dialing', since, job: startJob(world.wake, () => connect(world.wake, world.signal)) };
  };

  const hangUp = (link: Link, lingeringMs: number) => {
    // If the service does not confirm the end of the connection, it may charge until it notices that its
    // pings get no answer.
    const answered = link.close();
    if (openedAt === undefined) return;
    const heard = meter.closed(lingeringMs);
    closing = Promise.resolve(answered).then((known) => {
      if (known) heard();
    });
    const lasted = clock.mono() - openedAt;
    const useless = cause?.why === 'unanswered' || cause?.why === 'incomplete';
    shortSessions = useless || lasted < timing.healthyMs ? shortSessions + 1 : 0;
    if (lasted >= timing.healthyMs) backoff.reset();
    openedAt = undefined;
  };

  const down = (why: DownReason, text: string, failure?: Failure): SessionEvent => {
    const told = failure?.kind === 'rate' ? waitAfter(failure) : 0;
    const waitMs = Math.max(told, backoff.next());
    const now = clock.mono();
    state = { kind: 'down', since: now, until: now + waitMs };
    return { kind: 'down', why, text, waitMs, failure };
  };

  const dialed = (job: Job<Link>, since: number): SessionEvent | undefined => {
    const { outcome } = job;
    if (!outcome) return undefined;
    if ('error' in outcome) {
      if (!(outcome.error instanceof Failure)) throw outcome.error;
      if (outcome.error.code === 'BROKEN') meter.uncertain(PING_MS);
      return down('refused', outcome.error.message, outcome.error);
    }
    const link = withPutBack(outcome.value);
    connections++;
    openedAt = clock.mono();
    meter.opened();
    heartbeat.start(link);
    cause = undefined;
    subscribe(link, since, 1);
    return undefined;
  };

  const subscribe = (link: SubscribingLink, since: number, tries: number) => {
    link.send(JSON.stringify({ type: 'subscribe', subscription: world.subscription }));
    state = { kind: 'subscribing', since, link, until: clock.mono() + timing.subscribeMs, tries };
  };

  const confirmed = (link: SubscribingLink): SessionEvent | undefined => {
    const response = readConfirmation(link, world.subscription);
    if (response?.kind === 'confirmed') {
      state = { kind: 'catchingUp', link, subscribedAt: clock.mono() };
      return { kind: 'subscribed' };
    }
    return response;
  };

  /**
   * Handles the end of a connection. With `draining`, returns the event only after the frames in its queue
   * were read.
   */
  const ended = (link: Link, draining: boolean): SessionEvent | undefined => {
    cause ??= heartbeat.dead(link) ?? link.end;
    if (!cause) return undefined;
    hangUp(link, link.end && !link.end.unconfirmed ? 0 : PING_MS);
    if (draining && link.held > 0) return undefined;
    const { why, text } = cause;
    const failure = link.end?.failure;
    cause = undefined;
    if (why !== 'quota') return down(why, text, failure);
    state = { kind: 'closing', mode: 'ws' };
    return { kind: 'quota', text };
  };

  /** Ends the connection, or the attempt to open one, and changes the state to `next`. */
  const leave = (next: TailState) => {
    if ('link' in state) hangUp(state.link, PING_MS);
    // If a connection is still being opened, close it when it is open: the service may already charge for it.
    if (state.kind === 'dialing') {
      meter.uncertain(PING_MS);
      closing = state.job.settled.then(closeLate(state.job));
    }
    cause = undefined;
    state = next;
  };

  /**
   * Waits for the response to the subscription. If the response is overdue, subscribes again, which is free,
   * whereas a new connection is charged.
   */
  const subscribing = (current: Extract<TailState, { kind: 'subscribing' }>): SessionEvent | undefined => {
    const { link, since, until, tries } = current;
    const event = confirmed(link) ?? ended(link, false);
    if (event || clock.mono() < until) return event;
    subscribe(link, since, tries + 1);
    return tries === 1 ? { kind: 'unacknowledged' } : undefined;
  };

  return {
    get state() {
      return state;
    },
    step(mayDial) {
      if (state.kind === 'down' && mayDial && clock.mono() >= state.until) dial(state.since);
      if (state.kind === 'dialing') {
        const event = dialed(state.job, state.since);
        if (event) return event;
      }
      if (state.kind === 'subscribing') return subscribing(state);
      const link = subscribedLink(state);
      // After the end of a connection, the frames that are left in its queue are still printed.
      return link && ended(link, state.kind === 'live');
    },
    due(mayDial) {
      if (state.kind === 'down' && mayDial) return state.until;
      if (state.kind === 'subscribing') return Math.min(state.until, heartbeat.due);
      return subscribedLink(state) && !cause ? heartbeat.due : Number.POSITIVE_INFINITY;
    },
    get openedAt() {
      return openedAt;
    },
    get shortSessions() {
      return shortSessions;
    },
    get unansweredSince() {
      const late = state.kind === 'subscribing' && state.tries > 1 ? openedAt : undefined;
      return late === undefined ? undefined : late + timing.subscribeMs;
    },
    get connections() {
      return connections;
    },
    goLive() {
      if (state.kind === 'catchingUp') state = { ...state, kind: 'live' };
    },
    catchUp() {
      if (state.kind === 'live') state = { ...state, kind: 'catchingUp' };
    },
    drop(why, text) {
      cause ??= { why, text };
    },
    poll: () => leave({ kind: 'polling' }),
    reopen() {
      const now = clock.mono();
      if (connect && state.kind === 'polling') state = { kind: 'down', since: now, until: now };
    },
    close() {
      if (state.kind !== 'closing') leave({ kind: 'closing', mode: modeOf(state) });
    },
    settled: async () => {
      if (state.kind === 'dialing') await state.job.settled;
      await closing;
    },
  };
}

type Cause = { readonly why: DownReason | 'quota'; readonly text: string };

const closeLate = (job: Job<Link>) => async () => {
  if (job.outcome && 'value' in job.outcome) await job.outcome.value.close();
};
