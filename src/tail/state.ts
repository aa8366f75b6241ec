import type { Job } from './job.ts';
import type { Link } from './ports.ts';
import type { Mode } from './spend/socket-share.ts';

/**
 * What a tail is doing about the socket: exactly one of these at any time. `socket/session.ts` owns the state; the diagram
 * is in docs/tail.md.
 */
export type TailState =
  /** The pages are all there is: the feed has no socket, or it was given up for good. */
  | { readonly kind: 'polling' }
  /** Between two connections. */
  | { readonly kind: 'down'; readonly since: number; readonly until: number }
  | { readonly kind: 'dialing'; readonly since: number; readonly job: Job<Link> }
  /** Connected, and the subscription is not confirmed yet: it is sent again at `until`. */
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
  /** The run is ending, and opens no more connections. */
  | { readonly kind: 'closing'; readonly mode: Mode };

/** A connection into which a frame can be put back. */
export interface SubscribingLink extends Link {
  putBack(raw: Uint8Array): void;
}

/** The connection of a state that is subscribed. */
export const subscribedLink = (state: TailState): Link | undefined =>
  state.kind === 'catchingUp' || state.kind === 'live' ? state.link : undefined;

/** How a state follows the feed. */
export const modeOf = (state: TailState): Mode =>
  state.kind === 'polling' ? 'poll' : state.kind === 'closing' ? state.mode : 'ws';
