import type { Clock } from '../../base/clock.ts';
import type { StoreConnection } from '../connection.ts';
import { storeFailure } from '../failures.ts';
import { listReply } from '../replies.ts';
import { script } from '../script.ts';

/**
 * Takes a lease that is free, or that the caller's last term left behind. The token is compared
 * whole: after a failover, two servers can issue the same epoch, so it has a nonce too. After the
 * named arguments: fields and values of the new leader. Returns what `readLead` reads.
 */
export const lead = script('lead', {
  keys: ['lease', 'epoch', 'info'],
  args: ['nonce', 'leaseMs', 'lastToken'],
  body: `
local left = redis.call('PTTL', lease)
if left > 0 and redis.call('GET', lease) ~= lastToken then return { '', left } end
local token = redis.call('INCR', epoch) .. ':' .. nonce
redis.call('SET', lease, token, 'PX', leaseMs)
for at = REST, #ARGV, 2 do redis.call('HSET', info, ARGV[at], ARGV[at + 1]) end
return { token }`,
});

/** Ends a lease that the caller holds. */
export const resign = script('resign', {
  keys: ['lease'],
  args: ['token'],
  frees: true,
  body: `
if redis.call('GET', lease) ~= token then return 0 end
return redis.call('DEL', lease)`,
});

/**
 * The answer of `lead`: the token of the new leader, or how long the lease of another one lasts.
 */
export type LeadReply = { readonly token: string } | { readonly leftMs: number };

export function readLead(reply: unknown, leaseMs: number): LeadReply {
  const [token, leftMs] = listReply(reply);
  if (typeof token === 'string' && token !== '') return { token };
  return { leftMs: Number(leftMs) || leaseMs };
}

export const LEASE_MS = 10_000;
const RENEW_MS = 2_500;

interface LeaseOptions {
  /**
   * When the lease was asked for, by the monotonic clock. It lasts from then on, whenever the
   * answer came.
   */
  readonly askedAt: number;
  readonly leaseMs: number;
}

/**
 * A lease that this process renews until it is over: because the caller has ended it or lost it, or
 * could not renew it in time.
 */
export class Lease {
  readonly over: AbortSignal;
  readonly #clock: Clock;
  readonly #options: LeaseOptions;
  readonly #ended = new AbortController();
  /** When the lease ends unless it is renewed, by the monotonic clock. */
  #endsAt: number;

  constructor(store: StoreConnection, clock: Clock, options: LeaseOptions) {
    this.#clock = clock;
    this.#options = options;
    this.#endsAt = options.askedAt + options.leaseMs;
    this.over = AbortSignal.any([this.#ended.signal, store.lost]);
  }

  end(): void {
    this.#ended.abort(storeFailure('STORE_LEASE', 'this process has lost its lease of the feed'));
  }

  /** Throws if the lease is over. */
  check(): void {
    if (this.#clock.mono() >= this.#endsAt) this.end();
    this.over.throwIfAborted();
  }

  /** Renews the lease from now on; `renewOnce` resolves to 1 if it still had it. */
  keep(renewOnce: () => Promise<unknown>): void {
    for (const work of [this.#renew(renewOnce), this.#watch()]) {
      work.catch((error: unknown) => {
        if (!this.over.aborted) this.#ended.abort(error);
      });
    }
  }

  async #renew(renewOnce: () => Promise<unknown>): Promise<void> {
    const { leaseMs } = this.#options;
    while (!this.over.aborted) {
      const sent = this.#clock.mono();
      if ((await renewOnce()) !== 1) this.end();
      this.#endsAt = sent + leaseMs;
      await this.#clock.sleep(Math.min(RENEW_MS, leaseMs / 4), this.over);
    }
  }

  /** Ends the lease on time, even if the store does not answer. */
  async #watch(): Promise<void> {
    while (this.#clock.mono() < this.#endsAt)
      await this.#clock.sleep(this.#endsAt - this.#clock.mono(), this.over);
    this.end();
  }
}
