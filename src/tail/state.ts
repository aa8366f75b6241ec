import type { Job } from './background-job.ts';
import type { Link } from './ports.ts';
import type { Mode } from './spend/stream-or-poll.ts';

export interface Dialing {
  readonly kind: 'dialing';
  readonly since: number;
  readonly job: Job<Link>;
}

/**
 * Connected, but the service has not answered the subscription. At `until`, this no longer matters.
 */
export interface Subscribing {
  readonly kind: 'subscribing';
  readonly since: number;
  readonly link: Link;
  readonly until: number;
}

/**
 * Only `socket/session.ts` changes the state (diagram in docs/tail.md). All times are monotonic.
 */
export type TailState =
  /**
   * The tail reads only pages, because the feed has no WebSocket or streaming was decided against.
   */
  | { readonly kind: 'polling' }
  /** There is no connection since `since`; the next attempt follows at `until`. */
  | { readonly kind: 'down'; readonly since: number; readonly until: number }
  | Dialing
  | Subscribing
  | { readonly kind: 'live'; readonly link: Link }
  /** The run is ending. No more connections are opened. */
  | { readonly kind: 'closing'; readonly mode: Mode };

export const openLink = (state: TailState): Link | undefined =>
  state.kind === 'subscribing' || state.kind === 'live' ? state.link : undefined;

export function modeOf(state: TailState): Mode {
  if (state.kind === 'closing') return state.mode;
  return state.kind === 'polling' ? 'poll' : 'ws';
}
