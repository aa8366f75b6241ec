export interface Timing {
  /** How long after its post time a post may be missing in pages, or appear behind newer ones. */
  readonly latenessMs: number;
  /**
   * The interval of deep walks (see `Depth`), and the longer one that applies while they read more
   * than five pages.
   */
  readonly auditMs: number;
  readonly longAuditMs: number;
  /**
   * When further walks verify a new connection: times since the start of the first walk after its
   * subscription.
   */
  readonly confirmMs: readonly number[];
  readonly silentMs: number;
  readonly pingMs: number;
  /**
   * If a clock jumps further than this, for example because the machine was suspended, the
   * connection is replaced.
   */
  readonly jumpMs: number;
  readonly beatMs: number;
  /** How long to wait for the response to a subscription before continuing as if it had come. */
  readonly subscribeMs: number;
  readonly backoffMs: number;
  readonly backoffMaxMs: number;
  readonly healthyMs: number;
  /**
   * The interval of the requests of `me` while streaming. While polling, it is ten times as long.
   */
  readonly keyMs: number;
  /** How often the limits of the budgets are read, so that one that was raised ends a wait soon. */
  readonly limitsMs: number;
  /**
   * If the output is blocked for longer than this, the WebSocket is closed, because it is charged
   * by the minute.
   */
  readonly blockedMs: number;
  /** The maximum time of the last walk, and again of the shutdown after it. */
  readonly closingMs: number;
}

export const timing: Timing = {
  latenessMs: 120_000,
  auditMs: 60_000,
  longAuditMs: 240_000,
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
  limitsMs: 5_000,
  blockedMs: 120_000,
  closingMs: 10_000,
};
