import type { IncomingMessage } from 'node:http';
import type { Key, Scope } from '../keys.ts';
import type { SandboxState } from '../state.ts';
import { ApiError } from './response.ts';

/**
 * Returns the key of a call, or throws why the call is rejected. If `scope` is null, as for `me`, keys that never had
 * an allowance are accepted too.
 */
export function admit(sandbox: SandboxState, { headers, socket }: IncomingMessage, scope: Scope | null): Key {
  limit(sandbox, `burst ${socket.remoteAddress}`, sandbox.burstPerSecond, 1_000);
  const [, bearer] = /^Bearer\s+(\S+)\s*$/i.exec(headers.authorization ?? '') ?? [];
  const key = sandbox.keys.get(bearer ?? headers['x-api-key']?.toString().trim() ?? '');
  if (!key) throw new ApiError('UNAUTHORIZED');
  limit(sandbox, key.id, key.ratePerMinute, 60_000);
  if (scope && !key.scopes.has(scope))
    throw new ApiError('FORBIDDEN_SCOPE', `The key lacks the scope ${scope}.`);
  if (scope && !key.unmetered && !key.wasGranted) throw new ApiError('FREE_TIER_DISABLED');
  return key;
}

/** Counts a call, or rejects it if there were `most` calls within the last `spanMs`. Rejected calls do not count. */
export function limit(
  { rateWindows, clock }: SandboxState,
  name: string,
  most: number,
  spanMs: number,
): void {
  const now = clock.now();
  const times = rateWindows.get(name) ?? [];
  rateWindows.set(name, times);
  while (times[0] !== undefined && times[0] <= now - spanMs) times.shift();
  if (times.length >= most) {
    const free = (times[times.length - most] ?? now) + spanMs;
    throw new ApiError('RATE_LIMITED', undefined, Math.max(1, Math.ceil((free - now) / 1_000)));
  }
  times.push(now);
}
