import type { Job } from './job.ts';
import type { Link } from './ports.ts';
import type { Mode } from './spend/socket-share.ts';

/**
 * The state of a tail, exactly one of these at any time. `socket/session.ts` owns it; docs/tail.md has a diagram.
 */
export type TailState =
  /** Only pages are read: the feed has no socket, or it was given up permanently. */
  | { readonly kind: 'polling' }
  /** Disconnected, waiting for the next attempt. */
  | { readonly kind: 'down'; readonly since: number; readonly until: number }
  | { readonly kind: 'dialing'; readonly since: number; readonly job: Job<Link> }
  /** Connected, but the subscription is not confirmed; it is sent again at `until`. */
  | {
      readonly kind: 'subscribing';
      readonly since: number;
      readonly link: SubscribingLink;
      readonly until: number;
      readonly tries: number;
    }
  /** Subscribed; frames wait for a walk that starts after `subscribedAt`. */
  | { readonly kind: 'catchingUp'; readonly link: Link; readonly subscribedAt: number }
  /** Frames are printed as they arrive. */
  | { readonly kind: 'live'; readonly link: Link; readonly subscribedAt: number }
  /** The run is ending and opens no more connections. */
  | { readonly kind: 'closing'; readonly mode: Mode };

/** A connection to which a frame can be returned. */
export interface SubscribingLink extends Link {
  putBack(raw: Uint8Array): void;
}

/** The connection of a subscribed state. */
export const subscribedLink = (state: TailState): Link | undefined =>
  state.kind === 'catchingUp' || state.kind === 'live' ? state.link : undefined;

/** The mode of a state. */
export const modeOf = (state: TailState): Mode =>
  state.kind === 'polling' ? 'poll' : state.kind === 'closing' ? state.mode : 'ws';
