import { Failure } from '../base/failure.ts';
import { type AnswerCache, withClaim } from '../contract/ports/answers.ts';
import type { CallOptions, Client, KeyMeters } from '../contract/ports/client.ts';
import { type Known, known } from '../contract/read-record.ts';
import { recognize } from '../contract/record-types.ts';
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

interface LookOptions {
  readonly sharing?: AccountSharing | undefined;
  readonly timeoutMs?: number;
}

/**
 * What is left by a new answer of `me`. Without one in time, what earlier answers have stated, or
 * undefined. Throws only if the service rejects the key, as it would in the next call.
 */
export async function lookAgain(
  client: Pick<Client, 'call' | 'left'>,
  signal: AbortSignal | undefined,
  { sharing, timeoutMs = TIMEOUT_MS }: LookOptions = {},
): Promise<Looked> {
  const timeLimit = AbortSignal.timeout(timeoutMs);
  const both = signal ? AbortSignal.any([signal, timeLimit]) : timeLimit;
  try {
    const { known: me } = await askAccount(client, { signal: both, optional: true }, sharing);
    return { me, left: client.left.key };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof Failure && error.kind === 'auth') throw error;
    return { me: undefined, left: client.left.key };
  }
}

/** An answer of `me`, if there was one, and what is left. */
interface Looked {
  readonly me: Known<Me> | undefined;
  readonly left: KeyMeters | undefined;
}

/** Requests `me` only if nothing is known of what is left. */
export async function lookAtAccount(
  client: Client,
  signal: AbortSignal,
  options: LookOptions = {},
): Promise<KeyMeters | undefined> {
  return client.left.key ?? (await lookAgain(client, signal, options)).left;
}
