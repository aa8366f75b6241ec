import { SOCKET_PING_SECONDS } from '../contract/limits.ts';
import type { SandboxClock } from './clock.ts';
import type { KeyOptions } from './keys/key.ts';
import { planTerms } from './keys/plans.ts';
import type { RetryAfterPlace } from './server/http/api-error.ts';
import type { RevealCount } from './server/http/endpoint-handler.ts';
import type { SocketBilling } from './server/socket/billing.ts';
import type { World } from './world/types.ts';

/** How a sandbox is started. The members of `KeyOptions` describe its first key. */
export interface SandboxOptions extends KeyOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number | undefined;
  readonly seed?: number | undefined;
  /** The instant at which it starts; the present by default. */
  readonly now?: number | undefined;
  /** Time, where the sandbox's own running clock is not wanted. */
  readonly clock?: SandboxClock | undefined;
  readonly traders?: number | undefined;
  readonly theses?: number | undefined;
  readonly socials?: boolean | undefined;
  /** A folder of NDJSON files to serve instead of a made world. */
  readonly data?: string | undefined;
  /** A world made elsewhere. */
  readonly world?: World | undefined;
  /** Live posts a minute; 0, the default, is none. */
  readonly rate?: number | undefined;
  /** A recorded feed to play, with its own timing; no other live posts then. */
  readonly replay?: { readonly file: string; readonly speed?: number | undefined } | undefined;
  readonly faults?: string | undefined;
  /** Whether answers stand bare or wrapped in `data` and `meta`: the description leaves it open. */
  readonly envelope?: 'bare' | 'wrapped' | undefined;
  /** Whether limits above 20 are honoured, or pages hold 20 rows at most: left open as well. */
  readonly page?: 'full' | 'capped' | undefined;
  readonly retryAfter?: RetryAfterPlace | undefined;
  /** What a batch counts as: one reveal a response that returned a wallet, or one an entry. */
  readonly batchReveals?: RevealCount | undefined;
  readonly socketBilling?: SocketBilling | undefined;
  readonly pingSeconds?: number | undefined;
  /** The ceiling for one address, over all keys. */
  readonly burstPerSecond?: number | undefined;
}

/** The options with every default filled in; files and the world stay with the caller. */
export function settle(options: SandboxOptions) {
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
    // High enough that one key alone meets its own limit first.
    burstPerSecond: options.burstPerSecond ?? Math.max(100, ratePerMinute),
  };
}

export type Settled = ReturnType<typeof settle>;
