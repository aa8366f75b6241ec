import { createBackoff } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import type { Subscription } from '../../contract/frames.ts';
import { type Job, startJob } from '../job.ts';
import type { DownReason } from '../notice.ts';
import type { Connect, Link, LinkEnd } from '../ports.ts';
import type { CostMeter } from '../spend/cost-meter.ts';
import { modeOf, type SubscribingLink, subscribedLink, type TailState } from '../state.ts';
import type { Timing } from '../timing.ts';
import { readFrame } from './frame.ts';
import { confirms, type ReadFrame } from './other-frame.ts';

/** What happened to the connection. */
export type SessionEvent =
  | { readonly kind: 'subscribed' }
  /** The service has not answered the subscription so far. */
  | { readonly kind: 'unacknowledged' }
  | { readonly kind: 'rejected'; readonly text: string }
  | { readonly kind: 'quota'; readonly text: string }
  | {
      readonly kind: 'down';
      readonly why: DownReason;
      readonly text: string;
      readonly waitMs: number;
      /** What the handshake was refused with. */
      readonly failure: Failure | undefined;
    };

/** One connection at a time: dialed, subscribed, listened to, and given up when it is dead. Owns the state of the tail. */
export interface Session {
  readonly state: TailState;
  /** What happened since the last step. `mayDial` holds a new connection back. */
  step(mayDial: boolean): SessionEvent | undefined;
  /** When it has to be looked at again though nothing wakes the loop. */
  due(mayDial: boolean): number;
  /** Since when there has been a connection to pay for. */
  readonly openedAt: number | undefined;
  /** Sessions in a row that ended within their first minute, or brought nothing though there was something. */
  readonly shortSessions: number;
  /** Since when a connection has waited for its subscription to be answered, once that is late. */
  readonly unansweredSince: number | undefined;
  readonly connections: number;
  /** Frames may be printed: a walk that started after the subscription has been. */
  goLive(): void;
  /** Frames wait for another walk. */
  catchUp(): void;
  /** Gives the connection up; a new one follows. */
  drop(why: DownReason, text: string): void;
  /** Gives the socket up, and polls. */
  poll(): void;
  /** Polls no more: a connection may be opened again. */
  reopen(): void;
  /** Ends the connection, and opens no other. */
  close(): void;
  /** Settles when no attempt is under way. */
  settled(): Promise<void>;
}

/** How long the service may take to notice that nobody answers its pings. */
const PING_MS = 60_000;

interface SessionWorld {
  readonly clock: Clock;
  readonly random: () => number;
  readonly timing: Timing;
  /** Undefined where the feed has no socket. */
  readonly connect: Connect | undefined;
  readonly subscription: Subscription;
  readonly meter: CostMeter;
  readonly wake: () => void;
  readonly signal: AbortSignal;
}

/** A session that starts down, ready to dial; without a socket it polls. */
export function createSession(world: SessionWorld): Session {
  const { clock, timing, meter } = world;
  const backoff = createBackoff(timing.backoffMs, timing.backoffMaxMs, world.random);
  const pulse = createPulse(clock, timing);
  const { connect } = world;
  const began = clock.mono();
  let state: TailState = connect ? { kind: 'down', since: began, until: began } : { kind: 'polling' };
  let openedAt: number | undefined;
  let shortSessions = 0;
  let connections = 0;
  let cause: Cause | undefined;
  let farewell: Promise<void> | undefined;

  const dial = (since: number) => {
    if (!connect) return;
    state = { kind: 'dialing', since, job: startJob(world.wake, () => connect(world.wake, world.signal)) };
  };

  const hangUp = (link: Link, lingeringMs: number) => {
    // A service that does not answer the farewell may hear of the end only by its next pings.
    const answered = link.close();
    if (openedAt === undefined) return;
    const heard = meter.closed(lingeringMs);
    farewell = Promise.resolve(answered).then((known) => {
      if (known) heard();
    });
    const lasted = clock.mono() - openedAt;
    const useless = cause?.why === 'unanswered' || cause?.why === 'deaf';
    shortSessions = useless || lasted < timing.healthyMs ? shortSessions + 1 : 0;
    if (lasted >= timing.healthyMs) backoff.reset();
    openedAt = undefined;
  };

  const down = (why: DownReason, text: string, failure?: Failure): SessionEvent => {
    const told = failure?.kind === 'rate' ? (failure.retryAfter ?? 0) * 1_000 : 0;
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
      if (outcome.error.code === 'BROKEN') meter.doubted();
      return down('refused', outcome.error.message, outcome.error);
    }
    const link = withEarly(outcome.value);
    connections++;
    openedAt = clock.mono();
    meter.opened();
    pulse.start(link);
    cause = undefined;
    subscribe(link, since, 1);
    return undefined;
  };

  const subscribe = (link: SubscribingLink, since: number, tries: number) => {
    link.send(JSON.stringify({ type: 'subscribe', subscription: world.subscription }));
    state = { kind: 'subscribing', since, link, until: clock.mono() + timing.subscribeMs, tries };
  };

  /** Reads up to the frame that proves the subscription: its acknowledgement, or a post, which stays in the link. */
  const confirmed = (link: SubscribingLink): SessionEvent | undefined => {
    for (let raw = link.next(); raw; raw = link.next()) {
      const frames = readFrame(raw);
      const error = frames.find(({ kind }) => kind === 'error');
      if (error?.kind === 'error') return { kind: 'rejected', text: error.text };
      const posts = frames.some(({ kind }) => kind === 'row' || kind === 'nameless');
      if (posts) link.putBack(raw);
      if (!posts && !frames.some((frame) => isConfirmation(frame, world.subscription))) continue;
      state = { kind: 'catchingUp', link, subscribedAt: clock.mono() };
      return { kind: 'subscribed' };
    }
    return undefined;
  };

  /** Ends a connection that is dead, or that somebody gave up, once what waits in it has been taken. */
  const ended = (link: Link, draining: boolean): SessionEvent | undefined => {
    cause ??= pulse.dead(link) ?? causeOf(link.end);
    if (!cause) return undefined;
    hangUp(link, link.end && !link.end.unheard ? 0 : PING_MS);
    if (draining && link.held > 0) return undefined;
    const { why, text } = cause;
    const failure = link.end?.failure;
    cause = undefined;
    if (why !== 'quota') return down(why, text, failure);
    state = { kind: 'closing', mode: 'ws' };
    return { kind: 'quota', text };
  };

  /** Ends whatever there is of a connection, without a new one. */
  const leave = (next: TailState) => {
    if ('link' in state) hangUp(state.link, PING_MS);
    // An attempt under way is closed as soon as it succeeds; the service may have begun to count.
    if (state.kind === 'dialing') {
      meter.doubted();
      farewell = state.job.settled.then(closeLate(state.job));
    }
    cause = undefined;
    state = next;
  };

  /** Reads the answer to the subscription, or asks again: that costs nothing, a new connection does. */
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
      // What waits in a live connection that is over is still printed.
      return link && ended(link, state.kind === 'live');
    },
    due(mayDial) {
      if (state.kind === 'down' && mayDial) return state.until;
      if (state.kind === 'subscribing') return Math.min(state.until, pulse.due);
      return subscribedLink(state) && !cause ? pulse.due : Number.POSITIVE_INFINITY;
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
      await farewell;
    },
  };
}

type Cause = { readonly why: DownReason | 'quota'; readonly text: string };

const isConfirmation = (frame: ReadFrame, asked: Subscription): boolean =>
  frame.kind === 'subscription' && confirms(frame.stated, asked);

function withEarly(link: Link): SubscribingLink {
  let early: Uint8Array | undefined;
  return {
    next() {
      const raw = early ?? link.next();
      early = undefined;
      return raw;
    },
    putBack(raw) {
      early = raw;
    },
    get held() {
      return link.held + (early?.byteLength ?? 0);
    },
    get signs() {
      return link.signs;
    },
    get end() {
      return link.end;
    },
    send: (text) => link.send(text),
    ping: () => link.ping?.(),
    close: () => link.close(),
  };
}

const causeOf = (end: LinkEnd | undefined): Cause | undefined => end;

const closeLate = (job: Job<Link>) => async () => {
  if (job.outcome && 'value' in job.outcome) await job.outcome.value.close();
};

/** The signs of life of one connection. */
function createPulse(clock: Clock, timing: Timing) {
  let signs = 0;
  let heardAt = 0;
  let mono = 0;
  let wall = 0;
  return {
    get due() {
      return mono + timing.beatMs;
    },
    start(link: Link) {
      signs = link.signs;
      mono = clock.mono();
      wall = clock.now();
      heardAt = mono;
    },
    /** Looks at the connection when a beat is due. */
    dead(link: Link): Cause | undefined {
      const now = clock.mono();
      if (now < mono + timing.beatMs) return undefined;
      const passed = now - mono;
      // A suspended machine stops the monotonic clock on some systems and not on others: both are looked at.
      const leapt = Math.max(passed - timing.beatMs, clock.now() - wall - passed);
      mono = now;
      wall = clock.now();
      if (link.signs !== signs) {
        signs = link.signs;
        heardAt = now;
      }
      if (leapt > timing.leapMs) return { why: 'slept', text: 'the machine was asleep' };
      // A service that sends no pings of its own still has to answer those of a client.
      if (now - heardAt >= timing.pingMs) link.ping?.();
      if (now - heardAt < timing.silentMs) return undefined;
      return { why: 'silent', text: `nothing was heard for ${Math.round((now - heardAt) / 1_000)} s` };
    },
  };
}
