import { Failure } from '../../base/failure.ts';
import type { Client, KeyMeters } from '../../contract/ports.ts';
import { type AccountSharing, askAccount } from '../lookup/account.ts';

const TIMEOUT_MS = 5_000;

interface LookOptions {
  readonly sharing?: AccountSharing | undefined;
  readonly timeoutMs?: number;
}

/**
 * What the key has left. If that is not known yet, requests it with the free call `me`; undefined if the call fails.
 * Throws if the service rejects the key, because it would reject all further calls too.
 */
export async function lookAtAccount(
  client: Client,
  signal: AbortSignal,
  { sharing, timeoutMs = TIMEOUT_MS }: LookOptions = {},
): Promise<KeyMeters | undefined> {
  if (client.left.key) return client.left.key;
  try {
    const timeLimit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const options = { signal: timeLimit, timeoutMs };
    await askAccount(client, options, sharing);
    return client.left.key;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Failure && error.kind === 'auth') throw error;
    return undefined;
  }
}
