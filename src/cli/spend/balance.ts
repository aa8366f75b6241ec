import { Failure } from '../../base/failure.ts';
import type { Client, KeyMeters } from '../../contract/ports.ts';
import { leftOf } from '../../core/account.ts';
import { type AccountSharing, askAccount } from '../lookup/account.ts';

const TIMEOUT_MS = 5_000;

/**
 * What the key has left, by one request of `me`, which is free; undefined if it fails. Throws if the service
 * rejects the key, because it would reject all further requests too.
 */
export async function lookAtAccount(
  client: Client,
  signal: AbortSignal,
  sharing?: AccountSharing,
): Promise<KeyMeters | undefined> {
  try {
    const timeLimit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const options = { signal: timeLimit, timeoutMs: TIMEOUT_MS };
    const { known } = await askAccount(client, options, sharing);
    return client.left ?? leftOf(known);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Failure && error.kind === 'auth') throw error;
    return undefined;
  }
}
