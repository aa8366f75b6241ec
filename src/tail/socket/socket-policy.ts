import type { Subscription } from '../../contract/frames.ts';
import { cannotHold, outOfUnits, rejected } from '../failures.ts';
import type { TailNotice } from '../notice.ts';
import type { Connect, Link, TailPorts } from '../ports.ts';
import type { CostMeter } from '../spend/cost-meter.ts';
import type { PollReason, Via } from '../spend/socket-share.ts';
import type { TailSpend } from '../spend/tail-spend.ts';
import type { Timing } from '../timing.ts';
import { createSession, type Session, type SessionEvent } from './session.ts';

/** The socket as a way of the run: when it is opened, when it is given up, and for what. */
export interface SocketPolicy {
  /** Set while subscribed. */
  readonly link: Link | undefined;
  /** Frames may come out: a walk that began after the subscription has been emitted. */
  readonly live: boolean;
  readonly subscribedAt: number;
  readonly downSince: number;
  readonly connections: number;
  /** Looks after the connection; `quiet` says that its frames could come out soon. True when something happened. */
  step(quiet: boolean): boolean;
  due(quiet: boolean): number;
  /**
   * Reports posts that the pages showed: a connection that has not answered its subscription, and does not bring
   * them, is given up.
   */
  sawPosts(posts: number, since: number): void;
  /** Opens the way for frames, or closes it. */
  setLive(live: boolean): void;
  drop: Session['drop'];
  stop(): void;
  settled(): Promise<void>;
}

interface ConductWorld {
  readonly world: Pick<TailPorts, 'clock' | 'random'>;
  readonly connect: Connect;
  readonly timing: Timing;
  readonly via: Via;
  readonly subscription: Subscription;
  readonly purse: TailSpend;
  readonly meter: CostMeter;
  readonly notify: (notice: TailNotice) => void;
  readonly wake: () => void;
  readonly signal: AbortSignal;
  /** A subscription has been confirmed. */
  readonly subscribed: () => void;
  /** The socket is no longer the way. */
  readonly leave: (why: PollReason) => void;
}

/** Before the end of a paid minute, the next one is decided on. */
const MINUTE = 60_000;
const DECIDE_MS = 2_000;
/** Posts that the pages showed and the socket did not bring. */
const DEAF_POSTS = 5;
/** Refusals that polls do not meet. */
const socketOnly = new Set(['forbidden', 'missing', 'usage']);

/** Throws the failure that ends the run, where one does. */
export function createSocketPolicy({
  world,
  timing,
  via,
  purse,
  meter,
  notify,
  ...given
}: ConductWorld): SocketPolicy {
  const { clock } = world;
  const session = createSession({ clock, random: world.random, timing, meter, ...given });
  let live = false;
  let missed = 0;
  let subscribedAt = Number.POSITIVE_INFINITY;
  let downSince = clock.mono();
  let decided = 0;
  let decidedFor: number | undefined;

  const leave = (why: PollReason) => {
    session.stop();
    live = false;
    if (via === 'ws') throw cannotHold(why);
    given.leave(why);
  };

  const decideAt = () =>
    session.openedAt === undefined
      ? Number.POSITIVE_INFINITY
      : session.openedAt + (decided + 1) * MINUTE - DECIDE_MS;

  /** What speaks against the minute to come, at the moments when that counts. */
  const objection = (quiet: boolean): PollReason | undefined => {
    if (session.openedAt === undefined) return quiet ? purse.against(session.shortSessions) : undefined;
    if (decidedFor !== session.openedAt) decided = 0;
    decidedFor = session.openedAt;
    if (clock.mono() < decideAt()) return undefined;
    while (clock.mono() >= decideAt()) decided++;
    return purse.against(0);
  };

  const heard = (event: SessionEvent) => {
    if (event.kind === 'subscribed') {
      subscribedAt = clock.mono();
      given.subscribed();
      return notify({ kind: 'connected', times: session.connections });
    }
    if (event.kind === 'unacknowledged') return notify({ kind: 'unacknowledged' });
    live = false;
    downSince = clock.mono();
    if (event.kind === 'quota') throw outOfUnits(event.text);
    if (event.kind === 'rejected') {
      session.stop();
      if (via === 'ws') throw rejected(event.text);
      notify({ kind: 'frame', text: event.text });
      return leave('rejected');
    }
    const { failure } = event;
    if (failure?.kind === 'quota' || failure?.kind === 'auth') throw failure;
    if (failure && socketOnly.has(failure.kind)) {
      if (via === 'ws') throw failure;
      return leave('refused');
    }
    notify({ kind: 'down', why: event.why, text: event.text, waitMs: event.waitMs });
    if (via === 'ws' && session.shortSessions >= 3) {
      notify({ kind: 'unstable', sessions: session.shortSessions, cuAtMost: meter.socket });
    }
  };

  return {
    get link() {
      return session.link;
    },
    get live() {
      return live;
    },
    get subscribedAt() {
      return subscribedAt;
    },
    get downSince() {
      return downSince;
    },
    get connections() {
      return session.connections;
    },
    step(quiet) {
      const why = objection(quiet);
      if (why) {
        leave(why);
        return true;
      }
      const event = session.step(quiet, live);
      if (event) heard(event);
      return event !== undefined;
    },
    due: (quiet) => Math.min(session.due(quiet), decideAt()),
    sawPosts(posts, since) {
      const late = session.unansweredSince;
      // Posts from before, and those that the socket may be about to bring, say nothing.
      missed = late !== undefined && since >= late ? missed + posts : 0;
      if (missed >= DEAF_POSTS)
        session.drop('unanswered', 'the subscription was not answered, and brought no posts');
    },
    setLive(open) {
      live = open;
    },
    drop: session.drop,
    stop() {
      session.stop();
      live = false;
    },
    settled: session.settled,
  };
}
