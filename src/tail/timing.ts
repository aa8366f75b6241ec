/** Every span and bound of the tail, in one place. */
export interface Timing {
  /** How late a post may turn up in the pages. */
  readonly marginMs: number;
  /** What the margin may shrink to on a feed too fast to walk it whole. */
  readonly leastMarginMs: number;
  /** While the socket is up, a walk at such intervals; in poll mode, a deep one. */
  readonly auditMs: number;
  /** Walks that confirm the one after a connection, counted from it. */
  readonly confirmMs: readonly number[];
  /** Without ping, pong or frame for so long, a connection is dead. */
  readonly silentMs: number;
  /** After so long, the client sends a ping of its own. */
  readonly pingMs: number;
  /** A clock that jumps by more was asleep. */
  readonly leapMs: number;
  /** How often the heartbeat is looked at. */
  readonly beatMs: number;
  /** How long an answer to a subscription is waited for before it is sent again. */
  readonly subscribeMs: number;
  readonly backoffMs: number;
  readonly backoffMaxMs: number;
  /** A connection this old was a healthy one. */
  readonly healthyMs: number;
  /** How often the key is asked what is left. */
  readonly keyMs: number;
  /** The least time between two checkpoints. */
  readonly saveMs: number;
  /** Frames wait when the last proof is older, where only the file tells what is proven. */
  readonly holdMs: number;
  /** An output that is blocked for longer closes the socket, which is paid by the minute. */
  readonly blockedMs: number;
  /** How long an orderly end may take. */
  readonly closingMs: number;
  /** Ids remembered at most; past it, proof is given up for the oldest, and said. */
  readonly seenMax: number;
}

export const timing: Timing = {
  marginMs: 120_000,
  leastMarginMs: 15_000,
  auditMs: 60_000,
  confirmMs: [3_000, 20_000],
  silentMs: 45_000,
  pingMs: 20_000,
  leapMs: 30_000,
  beatMs: 5_000,
  subscribeMs: 10_000,
  backoffMs: 500,
  backoffMaxMs: 30_000,
  healthyMs: 60_000,
  keyMs: 60_000,
  saveMs: 1_000,
  holdMs: 120_000,
  blockedMs: 120_000,
  closingMs: 10_000,
  seenMax: 100_000,
};
