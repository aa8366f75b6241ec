import { SOCKET_PING_SECONDS } from '../contract/limits.ts';
import type { SandboxClock } from './clock.ts';
import type { KeyOptions } from './keys/key.ts';
import { planTerms } from './keys/plans.ts';
import type { RetryAfterPlace } from './server/http/api-error.ts';
import type { RevealCount } from './server/http/endpoint-handler.ts';
import type { SocketBilling } from './server/socket/billing.ts';
import type { WorldSize } from './world/generated/index.ts';
import type { World } from './world/types.ts';

/** The options of `startSandbox`. The options of `KeyOptions` apply to the first key. */
export interface SandboxOptions extends KeyOptions, WorldSize {
  /** The port; by default 0, which selects a free port. */
  readonly port?: number | undefined;
  readonly seed?: number | undefined;
  /** The time at which the clock starts; by default, now. */
  readonly now?: number | undefined;
  /** The clock of the sandbox; by default, a clock that runs in real time. */
  readonly clock?: SandboxClock | undefined;
  /** A folder of NDJSON files to serve instead of a generated world. */
  readonly data?: string | undefined;
  /** The world to serve. */
  readonly world?: World | undefined;
  /** Live posts per minute; 0 by default. */
  readonly rate?: number | undefined;
  /**
   * A recorded feed that is replayed instead of generated live posts. `speed` is a factor; 1, the default, is
   * the original speed.
   */
  readonly replay?: { readonly file: string; readonly speed?: number | undefined } | undefined;
  readonly faults?: string | undefined;
  /**
   * Whether a response is the record itself (bare), or has the record under `data` next to `meta` (wrapped).
   * The service description allows both.
   */
  readonly envelope?: 'bare' | 'wrapped' | undefined;
  /**
   * Whether pages can have more than 20 rows (full) or not (capped). The service description does not state
   * this.
   */
  readonly page?: 'full' | 'capped' | undefined;
  readonly retryAfter?: RetryAfterPlace | undefined;
  /** Whether a batch counts as one reveal, or each entry with a wallet counts as one. */
  readonly batchReveals?: RevealCount | undefined;
  readonly socketBilling?: SocketBilling | undefined;
  /** The maximum number of requests per second of an IP address, over all keys. */
  readonly burstPerSecond?: number | undefined;
}

/** Returns the options that the server uses, with their defaults. */
export function withDefaults(options: SandboxOptions) {
  const plan = options.plan ?? 'growth';
  const ratePerMinute = options.ratePerMinute ?? planTerms[plan].ratePerMinute;
  return {
    port: options.port ?? 0,
    seed: options.seed ?? 1,
    envelope: options.envelope ?? ('bare' as const),
    page: options.page ?? ('full' as const),
    retryAfter: options.retryAfter ?? ('beside' as const),
    batchReveals: options.batchReveals ?? ('response' as const),
    socketBilling: options.socketBilling ?? ('started' as const),
    pingMs: SOCKET_PING_SECONDS * 1_000,
    // The default is so high that the first key reaches its own limit before this one.
    burstPerSecond: options.burstPerSecond ?? Math.max(100, ratePerMinute),
  };
}

export type ResolvedOptions = ReturnType<typeof withDefaults>;
