/** All intervals and time limits of the tail. */
export interface Timing {
  /** The margin: how long after its post time a post may appear in pages and still be found. */
  readonly marginMs: number;
  /** The smallest margin, for feeds with so many posts that walks of the full margin would cost too much. */
  readonly leastMarginMs: number;
  /** The interval of verifying walks while streaming, and of deep walks (see `Depth`) while polling. */
  readonly auditMs: number;
  /** When further walks verify a new connection: times since the start of the first walk after its subscription. */
  readonly confirmMs: readonly number[];
  /** A connection counts as lost if nothing was received for this long. */
  readonly silentMs: number;
  /** If nothing was received for this long, the client sends a ping. */
  readonly pingMs: number;
  /** If a clock jumps further than this, for example because the machine was suspended, the connection is replaced. */
  readonly jumpMs: number;
  /** How often the connection is checked. */
  readonly beatMs: number;
  /** How long to wait for the response to a subscription before subscribing again. */
  readonly subscribeMs: number;
  readonly backoffMs: number;
  readonly backoffMaxMs: number;
  /** A connection that lasted this long counts as stable. */
  readonly healthyMs: number;
  /** The interval of the requests of `me` while streaming. While polling, it is ten times as long. */
  readonly keyMs: number;
  /** The shortest interval between checkpoints. */
  readonly saveMs: number;
  /**
   * If a later run can resume only from the output file, frames wait for a walk when the last verification is
   * older than this.
   */
  readonly holdMs: number;
  /**
   * If the output is blocked for longer than this, the WebSocket is closed, because it is charged by the
   * minute.
   */
  readonly blockedMs: number;
  /** The maximum time of the last walk, and again of the shutdown after it. */
  readonly closingMs: number;
  /**
   * The maximum number of remembered ids, not counting posts that have no time or are older than the floor (see
   * `Seen`). When it is reached, the half that was added first is dropped, and the range of these posts is reported
   * as unverified.
   */
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
