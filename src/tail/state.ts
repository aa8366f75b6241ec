import type { Job } from './job.ts';
import type { Link } from './ports.ts';
import type { SubscribingLink } from './socket/subscribing-link.ts';
import type { Mode } from './spend/socket-share.ts';

/**
 * The state of a tail; docs/tail.md has a diagram. Only `socket/session.ts` changes it. All times are monotonic.
 * `since` is when the previous connection or attempt to connect ended, or when streaming began.
 */
export type TailState =
  /** The tail reads only pages, because the feed has no WebSocket or the policy decided against it. */
  | { readonly kind: 'polling' }
  /** There is no connection; the next attempt follows at `until`. */
  | { readonly kind: 'down'; readonly since: number; readonly until: number }
  | { readonly kind: 'dialing'; readonly since: number; readonly job: Job<Link> }
  /** Connected, but the subscription is not confirmed. The subscription is sent again at `until`. */
  | {
      readonly kind: 'subscribing';
      readonly since: number;
      readonly link: SubscribingLink;
      readonly until: number;
      readonly tries: number;
    }
  /** Subscribed. Frames wait for a walk that started after `subscribedAt`. */
  | { readonly kind: 'catchingUp'; readonly link: Link; readonly subscribedAt: number }
  /** Frames are printed when they arrive. */
  | { readonly kind: 'live'; readonly link: Link; readonly subscribedAt: number }
  /** The run is ending. No more connections are opened. */
  | { readonly kind: 'closing'; readonly mode: Mode };

/** The connection, if it is subscribed. */
export const subscribedLink = (state: TailState): Link | undefined =>
  state.kind === 'catchingUp' || state.kind === 'live' ? state.link : undefined;

/** The mode that this state belongs to. */
export const modeOf = (state: TailState): Mode =>
  state.kind === 'polling' ? 'poll' : state.kind === 'closing' ? state.mode : 'ws';
