import { Failure } from '../base/failure.ts';
import { type AnswerCache, withClaim } from '../contract/ports/answers.ts';
import type { CallOptions, Client, KeyMeters } from '../contract/ports/client.ts';
import { known, recognize } from '../contract/read-record.ts';
import { Me } from '../contract/records/account.ts';

/** How long machines that share a store use the same answer of `me`. */
const SHARED_MS = 15_000;

export interface AccountSharing {
  readonly claim: AnswerCache['claim'];
  readonly now: () => number;
}

/** The answer of `me`, for checks before a run: up to 15 seconds old if machines share a store. */
export async function askAccount(
  client: Pick<Client, 'call' | 'left'>,
  options: CallOptions,
  sharing: AccountSharing | undefined,
) {
  const wanted = { endpoint: 'me', subject: '', maxAgeMs: SHARED_MS, missAgeMs: 0 } as const;
  const learn = client.left.request();
  const claim = await sharing?.claim?.(wanted, options.signal);
  const record = claim?.by === 'cache' ? recognize('me', claim.answer.record)?.record : undefined;
  if (record) {
    const me = known(Me, record);
    learn({ me });
    return { record, known: me };
  }
  return await withClaim(
    claim,
    () => client.call('me', {}, options),
    (answer) => ({ time: sharing?.now() ?? 0, status: 200, record: answer.record }),
  );
}

const TIMEOUT_MS = 5_000;

/**
 * Requests `me` if that is not known yet; undefined if it fails. Throws if the service rejects the
 * key.
 */
export async function lookAtAccount(
  client: Client,
  signal: AbortSignal,
  {
    sharing,
    timeoutMs = TIMEOUT_MS,
  }: { readonly sharing?: AccountSharing | undefined; readonly timeoutMs?: number } = {},
): Promise<KeyMeters | undefined> {
  if (client.left.key) return client.left.key;
  try {
    const timeLimit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    await askAccount(client, { signal: timeLimit }, sharing);
    return client.left.key;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Failure && error.kind === 'auth') throw error;
    return undefined;
  }
}
