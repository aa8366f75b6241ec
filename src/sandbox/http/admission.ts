import { createKey, type Key, type KeyOptions, type Scope } from '../keys.ts';
import { randomHex, randomOf } from '../random.ts';
import type { SandboxState } from '../state.ts';
import { type ApiError, apiError } from './response.ts';

export function addKey({ keys, seed, clock }: SandboxState, options: KeyOptions): Key {
  const number = keys.size + 1;
  const text =
    options.key ?? `trdr_${options.mode ?? 'test'}_${randomHex(randomOf(seed, `key ${number}`), 32)}`;
  const key = createKey(`key-${number}`, text, options, clock.now());
  keys.set(text, key);
  return key;
}

type Headers = NodeJS.Dict<string | string[]>;

/**
 * Returns the key of a call, or why the call is rejected. If `scope` is null, as for `me`, keys that never had an
 * allowance are accepted too.
 */
export function admit(
  sandbox: SandboxState,
  headers: Headers,
  ip: string,
  scope: Scope | null,
): { readonly key: Key } | { readonly error: ApiError } {
  const burst = limit(sandbox, `burst ${ip}`, sandbox.burstPerSecond, 1_000);
  if (burst) return { error: burst };
  const key = sandbox.keys.get(keyFrom(headers) ?? '');
  if (!key) return { error: apiError('UNAUTHORIZED') };
  const rate = limit(sandbox, key.id, key.ratePerMinute, 60_000);
  if (rate) return { error: rate };
  if (scope && !key.scopes.has(scope))
    return { error: apiError('FORBIDDEN_SCOPE', `The key lacks the scope ${scope}.`) };
  if (scope && !key.unmetered && !key.wasGranted) return { error: apiError('FREE_TIER_DISABLED') };
  return { key };
}

/**
 * Counts a call against a rate limit, or returns the error if there were `most` calls within the last `spanMs`. Rejected
 * calls do not count.
 */
export function limit(
  { rateWindows, clock }: SandboxState,
  name: string,
  most: number,
  spanMs: number,
): ApiError | null {
  const now = clock.now();
  const times = rateWindows.get(name) ?? [];
  rateWindows.set(name, times);
  while (times[0] !== undefined && times[0] <= now - spanMs) times.shift();
  if (times.length < most) {
    times.push(now);
    return null;
  }
  const free = (times[times.length - most] ?? now) + spanMs;
  return apiError('RATE_LIMITED', undefined, Math.max(1, Math.ceil((free - now) / 1_000)));
}

function keyFrom(headers: Headers): string | undefined {
  const bearer = /^Bearer\s+(\S+)\s*$/i.exec(headers['authorization']?.toString() ?? '');
  return bearer?.[1] ?? headers['x-api-key']?.toString().trim();
}
