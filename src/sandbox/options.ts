import { SOCKET_PING_SECONDS } from '../contract/limits.ts';
import type { SandboxClock } from './clock.ts';
import type { KeyOptions } from './keys/key.ts';
import { planTerms } from './keys/plans.ts';
import type { RetryAfterPlace } from './server/http/api-error.ts';
import type { RevealCount } from './server/http/endpoint-handler.ts';
import type { SocketBilling } from './server/socket/billing.ts';
import type { World } from './world/types.ts';

/** Options of `startSandbox`. Those of `KeyOptions` describe the first key. */
export interface SandboxOptions extends KeyOptions {
  /** Default 0: any free port. */
  readonly port?: number | undefined;
  readonly seed?: number | undefined;
  /** The start time; default: the present. */
  readonly now?: number | undefined;
  /** Replaces the sandbox's own running clock. */
  readonly clock?: SandboxClock | undefined;
  readonly traders?: number | undefined;
  readonly theses?: number | undefined;
  readonly socials?: boolean | undefined;
  /** A folder of NDJSON files to serve instead of a generated world. */
  readonly data?: string | undefined;
  /** A world to serve. */
  readonly world?: World | undefined;
  /** Live posts per minute; default 0. */
  readonly rate?: number | undefined;
  /** A recorded feed to replay with its own timing, instead of live posts. */
  readonly replay?: { readonly file: string; readonly speed?: number | undefined } | undefined;
  readonly faults?: string | undefined;
  /** Whether records are bare or wrapped in `data` and `meta`; the service description allows both. */
  readonly envelope?: 'bare' | 'wrapped' | undefined;
  /** Whether pages can have more than 20 rows; the service description does not say. */
  readonly page?: 'full' | 'capped' | undefined;
  readonly retryAfter?: RetryAfterPlace | undefined;
  /** Whether a batch counts as one reveal or as one reveal per entry with a wallet. */
  readonly batchReveals?: RevealCount | undefined;
  readonly socketBilling?: SocketBilling | undefined;
  readonly pingSeconds?: number | undefined;
  /** The request limit per IP address, across keys. */
  readonly burstPerSecond?: number | undefined;
}

/** Fills in the defaults. */
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
    pingMs: (options.pingSeconds ?? SOCKET_PING_SECONDS) * 1_000,
    // High enough that a single key reaches its own limit first.
    burstPerSecond: options.burstPerSecond ?? Math.max(100, ratePerMinute),
  };
}

export type ResolvedOptions = ReturnType<typeof withDefaults>;
