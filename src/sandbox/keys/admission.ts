import { RESOLVES_PER_MINUTE } from '../../contract/limits.ts';
import type { Random } from '../random.ts';
import { type ApiError, apiError } from '../server/http/api-error.ts';
import { createKey, type Key, type KeyOptions, keyFromHeaders } from './key.ts';
import type { Scope } from './plans.ts';
import { slidingWindow, windowPerClient } from './rate-window.ts';

type Headers = NodeJS.Dict<string | string[]>;
type Admitted = { readonly key: Key } | { readonly error: ApiError };

/** Checks keys, scopes and rate limits. */
export interface Admission {
  /**
   * Returns the key of a call, or why the call is rejected. If `scope` is null, as for `me`, keys that never
   * had an allowance are accepted too.
   */
  admit(headers: Headers, ip: string, scope: Scope | null): Admitted;
  /** Checks the limit of resolves per IP address. */
  admitResolve(ip: string): ApiError | null;
  add(options: KeyOptions): Key;
  byText(text: string): Key | undefined;
  readonly keys: readonly Key[];
  /** Clears the rate limit counts, as a restart does. */
  resetRates(): void;
}

export function createAdmission(burstPerSecond: number, random: Random, now: () => number): Admission {
  const keys: Key[] = [];
  const byText = new Map<string, Key>();
  const createBursts = () => windowPerClient(() => slidingWindow(burstPerSecond, 1_000));
  const createResolveWindows = () => windowPerClient(() => slidingWindow(RESOLVES_PER_MINUTE, 60_000));
  let burstOf = createBursts();
  let resolvesOf = createResolveWindows();

  return {
    admit(headers, ip, scope) {
      const burst = burstOf(ip).tryAcquire(now());
      if (!burst.ok)
        return {
          error: apiError(
            'RATE_LIMITED',
            'Too many requests per second from this IP address.',
            burst.retryAfter,
          ),
        };
      const key = byText.get(keyFromHeaders(headers) ?? '');
      if (!key) return { error: apiError('UNAUTHORIZED') };
      const window = key.window.tryAcquire(now());
      if (!window.ok) return { error: apiError('RATE_LIMITED', undefined, window.retryAfter) };
      if (scope && !key.scopes.has(scope)) {
        return { error: apiError('FORBIDDEN_SCOPE', `The key lacks the scope ${scope}.`) };
      }
      if (scope && key.meter.neverGranted) return { error: apiError('FREE_TIER_DISABLED') };
      return { key };
    },
    admitResolve(ip) {
      const window = resolvesOf(ip).tryAcquire(now());
      return window.ok
        ? null
        : apiError(
            'RATE_LIMITED',
            `At most ${RESOLVES_PER_MINUTE} resolves per minute and IP address.`,
            window.retryAfter,
          );
    },
    add(options) {
      const key = createKey(options, keys.length + 1, random, now);
      keys.push(key);
      byText.set(key.text, key);
      return key;
    },
    byText: (text) => byText.get(text),
    keys,
    resetRates() {
      burstOf = createBursts();
      resolvesOf = createResolveWindows();
      for (const key of keys) key.window.clear();
    },
  };
}
