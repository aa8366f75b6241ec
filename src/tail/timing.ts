/** All intervals and limits of the tail. */
export interface Timing {
  /** How late a post may appear in pages. */
  readonly marginMs: number;
  /** The minimum margin on a feed that is too fast for full walks. */
  readonly leastMarginMs: number;
  /** The interval of verifying walks while streaming, and of deep walks while polling. */
  readonly auditMs: number;
  /** The times of walks that confirm the first walk of a connection, relative to it. */
  readonly confirmMs: readonly number[];
  /** A connection without ping, pong or frame for this long is dead. */
  readonly silentMs: number;
  /** The silence after which the client sends a ping. */
  readonly pingMs: number;
  /** A clock that jumps further means that the machine was suspended. */
  readonly jumpMs: number;
  /** The interval of heartbeat checks. */
  readonly beatMs: number;
  /** How long to wait for the acknowledgement before subscribing again. */
  readonly subscribeMs: number;
  readonly backoffMs: number;
  readonly backoffMaxMs: number;
  /** A connection that lasted this long was healthy. */
  readonly healthyMs: number;
  /** The interval of requests to `me`. */
  readonly keyMs: number;
  /** The minimum interval between checkpoints. */
  readonly saveMs: number;
  /** Without a checkpoint, frames wait if the last verification is older than this. */
  readonly holdMs: number;
  /** An output that is blocked for longer closes the socket, which is charged by the minute. */
  readonly blockedMs: number;
  /** The maximum duration of the shutdown. */
  readonly closingMs: number;
  /** The maximum number of remembered ids; beyond it, the oldest ones are reported as unproven. */
  readonly seenMax: number;
}

export const timing: Timing = {
  marginMs: 120_000,
  leastMarginMs: 15_000,
  auditMs: 60_000,
  confirmMs: [3_000, 20_000],
  silentMs: 45_000,
  pingMs: 20_000,
  jumpMs: 30_000,
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
