import { Failure } from '../../base/failure.ts';
import type { Client, KeyMeters } from '../../contract/ports.ts';

const TIMEOUT_MS = 5_000;

/**
 * What is left of the key's meters, by one request of the free `me`; undefined if it cannot be told. A rejected key is a
 * failure: whatever is asked for next would be rejected too.
 */
export async function lookAtAccount(client: Client, signal: AbortSignal): Promise<KeyMeters | undefined> {
  try {
    const timeLimit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    await client.call('me', {}, { signal: timeLimit, timeoutMs: TIMEOUT_MS });
    return client.left;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Failure && error.kind === 'auth') throw error;
    return undefined;
  }
}
