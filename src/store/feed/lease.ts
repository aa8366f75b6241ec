import type { Clock } from '../../base/clock.ts';
import type { StoreConnection } from '../connection.ts';
import { storeFailure } from '../failures.ts';
import { script } from '../script.ts';

/**
 * After a failover, two servers can issue the same epoch, so the token has a nonce. ARGV[3]: the
 * last token.
 */
export const lead = script(
  'lead',
  `
local left = redis.call('PTTL', KEYS[1])
if left > 0 and redis.call('GET', KEYS[1]) ~= ARGV[3] then return { '', left } end
local token = redis.call('INCR', KEYS[2]) .. ':' .. ARGV[1]
redis.call('SET', KEYS[1], token, 'PX', ARGV[2])
for at = 4, #ARGV, 2 do redis.call('HSET', KEYS[3], ARGV[at], ARGV[at + 1]) end
return { token }`,
);

/**
 * Extends a lease. KEYS: lease. ARGV: token, new duration in ms. Returns 0 if the caller has lost
 * the lease.
 */
export const renew = script(
  'renew',
  `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`,
  { frees: true },
);

/** Ends a lease that the caller holds. KEYS: lease. ARGV: token. */
export const resign = script(
  'resign',
  `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`,
  { frees: true },
);

export const LEASE_MS = 10_000;
const RENEW_MS = 2_500;

/**
 * Renews a lease until it is over: because the caller has ended it or lost it, or could not renew
 * it in time.
 */
export function keepLease(
  store: StoreConnection,
  clock: Clock,
  {
    askedAt,
    leaseMs,
    lostText,
  }: { readonly askedAt: number; readonly leaseMs: number; lostText: string },
  renewOnce: () => Promise<unknown>,
) {
  const ended = new AbortController();
  const over = AbortSignal.any([ended.signal, store.lost]);
  let endsAt = askedAt + leaseMs;
  const end = () => ended.abort(storeFailure('STORE_LEASE', lostText));

  async function renewing(): Promise<void> {
    while (!over.aborted) {
      const sent = clock.mono();
      if ((await renewOnce()) !== 1) end();
      endsAt = sent + leaseMs;
      await clock.sleep(Math.min(RENEW_MS, leaseMs / 4), over);
    }
  }

  /** Ends the lease on time, even if the store does not answer. */
  async function watching(): Promise<void> {
    while (clock.mono() < endsAt) await clock.sleep(endsAt - clock.mono(), over);
    end();
  }

  for (const work of [renewing(), watching()]) {
    work.catch((error: unknown) => {
      if (!over.aborted) ended.abort(error);
    });
  }
  return {
    over,
    end,
    /** Throws if the lease is over. */
    check(): void {
      if (clock.mono() >= endsAt) end();
      over.throwIfAborted();
    },
  };
}
