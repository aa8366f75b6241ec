import { type Backoff, createBackoff } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { Job } from '../background-job.ts';
import { waitAfter } from '../failures.ts';
import type { DownReason } from '../notice.ts';
import type { Link, TailOptions, TailPorts } from '../ports.ts';
import type { Mode } from '../spend/stream-or-poll.ts';
import { type Dialing, modeOf, openLink, type Subscribing, type TailState } from '../state.ts';
import type { Timing } from '../timing.ts';
import type { ReadFrame } from './frame.ts';
import { Heartbeat } from './heartbeat.ts';

export interface DownEvent {
  readonly kind: 'down';
  readonly why: DownReason;
  readonly text: string;
  readonly waitMs: number;
  /** The failure of the handshake, or the failure that made this machine close the connection. */
  readonly failure: Failure | undefined;
}

export type SessionEvent =
  /** The service has answered the subscription, or has had the time for it. */
  | { readonly kind: 'subscribed' }
  | { readonly kind: 'rejected'; readonly text: string }
  | { readonly kind: 'quota'; readonly text: string }
  | DownEvent;

const MINUTE = 60_000;
/**
 * A connection is of no use if walks find this many posts after the last one that it delivered, and
 * the frames of them have not come for so long.
 */
const MISSED_ROWS = 3;
const PROMPT_MS = 15_000;

/**
 * Keeps one connection open, and replaces it when it ends. Only the session changes the state of
 * the tail.
 */
export class Session {
  state: TailState;
  connections = 0;
  /**
   * The number of consecutive connections that ended within a minute, or delivered no posts
   * although the feed had some.
   */
  shortSessions = 0;
  openedAt: number | undefined;
  /** Whether any connection of the run has delivered a post. */
  hasDelivered = false;
  /** When the present connection was subscribed. */
  #liveAt = Number.POSITIVE_INFINITY;
  /**
   * The connection has to deliver the posts after this time: that of the last post that it has
   * delivered, or the clock of the feed after the subscription.
   */
  #owesAfter = Number.POSITIVE_INFINITY;
  /** How many of those walks have found, and since when, by the monotonic clock. */
  #missed = 0;
  #missedAt = 0;
  #endedMinutes = 0;
  #answer: { readonly isRejected: boolean; readonly text: string } | undefined;
  #cause: { readonly why: DownReason | 'quota'; readonly text: string } | undefined;
  #closing: Promise<unknown> | undefined;
  readonly #backoff: Backoff;
  readonly #heartbeat: Heartbeat;
  readonly #ports: TailPorts;
  readonly #subscribe: string;
  readonly #timing: Timing;
  readonly #wake: () => void;
  readonly #signal: AbortSignal;

  /** A session begins unconnected, or with polling if the feed has no WebSocket. */
  constructor(
    ports: TailPorts,
    { subscription = { type: 'all' } }: TailOptions,
    timing: Timing,
    wake: () => void,
    signal: AbortSignal,
  ) {
    const { clock, connect, random } = ports;
    this.#ports = ports;
    this.#timing = timing;
    this.#wake = wake;
    this.#signal = signal;
    this.#subscribe = JSON.stringify({ type: 'subscribe', subscription });
    this.#backoff = createBackoff(timing.backoffMs, timing.backoffMaxMs, random);
    this.#heartbeat = new Heartbeat(clock, timing);
    const now = clock.mono();
    this.state = connect ? { kind: 'down', since: now, until: now } : { kind: 'polling' };
  }

  get mode(): Mode {
    return modeOf(this.state);
  }

  get isConnected(): boolean {
    return openLink(this.state) !== undefined;
  }

  /** Since when there has been no connection; undefined if there is one, or none is wanted. */
  get downSince(): number | undefined {
    return 'since' in this.state ? this.state.since : undefined;
  }

  get minutes(): number {
    return this.#endedMinutes + this.#minutesNow;
  }

  /**
   * Advances the session and returns the next event. No connection is opened while `mayDial` is
   * false.
   */
  step(mayDial: boolean): SessionEvent | undefined {
    const { state } = this;
    const { connect, clock } = this.#ports;
    if (state.kind === 'down' && mayDial && connect && clock.mono() >= state.until) {
      const job = new Job(this.#wake, () => connect(this.#wake, this.#signal));
      this.state = { kind: 'dialing', since: state.since, job };
    }
    if (this.state.kind === 'dialing') {
      const event = this.#dialed(this.state);
      if (event) return event;
    }
    if (this.state.kind === 'subscribing') return this.#subscribing(this.state);
    return this.state.kind === 'live' ? this.#ended(this.state.link) : undefined;
  }

  /** When `step` must be called again even if no part wakes the loop. */
  due(mayDial: boolean): number {
    const { state } = this;
    if (state.kind === 'down' && mayDial) return state.until;
    // A connection that has ended waits until its last frames are read.
    if (this.#cause) return Number.POSITIVE_INFINITY;
    if (state.kind === 'subscribing') return Math.min(state.until, this.#heartbeat.due);
    return state.kind === 'live' ? this.#heartbeat.due : Number.POSITIVE_INFINITY;
  }

  heard(frame: ReadFrame): void {
    if (frame.kind === 'row' || frame.kind === 'nameless') {
      this.hasDelivered = true;
      this.#missed = 0;
    }
    if (frame.kind === 'row')
      this.#owesAfter = Math.max(this.#owesAfter, frame.row.at ?? Number.NEGATIVE_INFINITY);
    // The greeting of a new connection does not answer the subscription.
    if (this.state.kind !== 'subscribing' || frame.kind === 'ready') return;
    this.#answer ??= {
      isRejected: frame.kind === 'error',
      text: frame.kind === 'error' ? frame.text : '',
    };
  }

  /** A walk has found a post of the subscription, which no frame had brought. */
  missed(at: number | null): void {
    if (at === null || at <= this.#owesAfter) return;
    if (this.#missed === 0) this.#missedAt = this.#ports.clock.mono();
    this.#missed++;
  }

  /**
   * Drops a connection that delivers no posts although walks find some. `sigma` is the clock of the
   * feed after a walk that began at `startedAt`.
   */
  judge(startedAt: number, sigma: number | null): void {
    const { state } = this;
    if (state.kind !== 'live' || startedAt < this.#liveAt) return;
    // What the first walk after the subscription finds was posted before it.
    if (this.#owesAfter === Number.POSITIVE_INFINITY)
      this.#owesAfter = sigma ?? Number.NEGATIVE_INFINITY;
    const isDue = this.#ports.clock.mono() - this.#missedAt >= PROMPT_MS;
    if (this.#missed >= MISSED_ROWS && isDue && state.link.held === 0)
      this.drop('incomplete', 'pages contained posts that the WebSocket did not deliver');
  }

  drop(why: DownReason, text: string): void {
    this.#cause ??= { why, text };
  }

  poll(): void {
    this.#leave({ kind: 'polling' });
  }

  reopen(): void {
    const now = this.#ports.clock.mono();
    if (this.#ports.connect && this.state.kind === 'polling')
      this.state = { kind: 'down', since: now, until: now };
  }

  close(): void {
    if (this.state.kind !== 'closing') this.#leave({ kind: 'closing', mode: modeOf(this.state) });
  }

  /** Resolves when no connection is being opened or closed. */
  settled = async (): Promise<void> => {
    if (this.state.kind === 'dialing') await this.state.job.settled;
    await this.#closing;
  };

  get #minutesNow(): number {
    return this.openedAt === undefined
      ? 0
      : Math.floor((this.#ports.clock.mono() - this.openedAt) / MINUTE) + 1;
  }

  #dialed({ job, since }: Dialing): SessionEvent | undefined {
    const { outcome } = job;
    if (!outcome) return undefined;
    if ('error' in outcome) {
      if (!(outcome.error instanceof Failure)) throw outcome.error;
      return this.#down('refused', outcome.error.message, outcome.error);
    }
    const link = outcome.value;
    const now = this.#ports.clock.mono();
    this.connections++;
    this.openedAt = now;
    this.#owesAfter = Number.POSITIVE_INFINITY;
    this.#missed = 0;
    this.#heartbeat.start(link);
    this.#cause = undefined;
    this.#answer = undefined;
    link.send(this.#subscribe);
    this.state = { kind: 'subscribing', since, link, until: now + this.#timing.subscribeMs };
    return undefined;
  }

  #subscribing({ link, until }: Subscribing): SessionEvent | undefined {
    const answer = this.#answer;
    if (answer?.isRejected) return { kind: 'rejected', text: answer.text };
    // Without an answer, continue as if it had come: walks verify the feed anyway.
    if (answer || this.#ports.clock.mono() >= until) {
      this.state = { kind: 'live', link };
      this.#liveAt = this.#ports.clock.mono();
      return { kind: 'subscribed' };
    }
    return this.#ended(link);
  }

  /** Handles the end of a connection, after the frames in its queue were read. */
  #ended(link: Link): SessionEvent | undefined {
    this.#cause ??= this.#heartbeat.dead(link) ?? link.end;
    const cause = this.#cause;
    if (!cause) return undefined;
    this.#hangUp(link);
    if (link.held > 0) return undefined;
    this.#cause = undefined;
    if (cause.why === 'quota') return { kind: 'quota', text: cause.text };
    return this.#down(cause.why, cause.text, link.end?.failure);
  }

  #hangUp(link: Link): void {
    if (this.openedAt === undefined) return;
    this.#closing = Promise.resolve(link.close());
    const lasted = this.#ports.clock.mono() - this.openedAt;
    const isUseless = this.#cause?.why === 'incomplete' || lasted < this.#timing.healthyMs;
    this.shortSessions = isUseless ? this.shortSessions + 1 : 0;
    if (lasted >= this.#timing.healthyMs) this.#backoff.reset();
    this.#endedMinutes += this.#minutesNow;
    this.openedAt = undefined;
  }

  #down(why: DownReason, text: string, failure?: Failure): SessionEvent {
    const asked = failure?.kind === 'rate' ? waitAfter(failure) : 0;
    const waitMs = Math.max(asked, this.#backoff.next());
    const now = this.#ports.clock.mono();
    this.state = { kind: 'down', since: now, until: now + waitMs };
    return { kind: 'down', why, text, waitMs, failure };
  }

  #leave(next: TailState): void {
    const { state } = this;
    const link = openLink(state);
    if (link) this.#hangUp(link);
    if (state.kind === 'dialing') this.#closing = state.job.settled.then(closeLate(state.job));
    this.state = next;
  }
}

const closeLate = (job: Job<Link>) => async () => {
  if (job.outcome && 'value' in job.outcome) await job.outcome.value.close();
};
