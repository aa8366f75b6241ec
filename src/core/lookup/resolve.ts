import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { isRecord } from '../../base/json-object.ts';
import { RESOLVE_HEADER } from '../../contract/endpoints.ts';
import { cu, RESOLVES_PER_MINUTE } from '../../contract/limits.ts';
import { type AnswerCache, type SharedAnswer, withClaim } from '../../contract/ports/answers.ts';
import type { Client } from '../../contract/ports/client.ts';
import { type Known, known, recognize, type Sent } from '../../contract/read-record.ts';
import { holdsWallet, Pending, User } from '../../contract/records/user.ts';
import { mayBeCharged } from '../client/service-errors.ts';
import type { CachedLookup, LookupPlan } from './cached-lookup.ts';
import { answerOf, type LookupAnswer, type PendingState } from './lookup.ts';
import type { Subject } from './subject.ts';

export interface ResolveProgress {
  readonly subject: string;
  readonly reason: string;
  readonly position?: number | undefined;
  readonly againInMs: number;
}

interface ResolverOptions {
  readonly client: Pick<Client, 'call' | 'affords'>;
  readonly clock: Clock;
  readonly users: CachedLookup;
  readonly direct?: boolean | undefined;
  /** How long to request the answer again while the service has none; 0 requests it only once. */
  readonly waitMs?: number | undefined;
  readonly onStanding?: ((standing: ResolveProgress) => void) | undefined;
  readonly claim?: AnswerCache['claim'];
}

export const WAIT_MS = 60_000;

/** How many resolves the rate limit of the endpoint allows during a wait. */
export const attemptsWithin = (waitMs: number): number =>
  RESOLVES_PER_MINUTE * Math.ceil(waitMs / 60_000);

/**
 * The waits in ms after answers that do not state one, by reason. Each further wait is 50% longer.
 */
const unstated: Readonly<Record<string, number>> = {
  queued: 5_000,
  timeout: 2_000,
  unavailable: 10_000,
  rate_limited: 10_000,
  not_ingested: 3_000,
};

const UNSTATED_MS = 5_000;
const LONGEST_MS = 30_000;
/**
 * After so many lost answers a resolve fails, because each may have been charged the full price.
 */
const LOST_LIMIT = 2;
/**
 * How long other machines can use a wallet that was found. This machine uses it longer, from its
 * cache.
 */
const SHARED_MS = 60_000;
/**
 * The same for a resolve that found none: just long enough for machines that are already waiting
 * for it.
 */
const SHARED_MISS_MS = 2_000;

export function createResolver(options: ResolverOptions) {
  const { client, clock, users, direct = false, waitMs = WAIT_MS } = options;
  const obtained = () => ({ time: clock.now(), from: 'service' }) as const;
  const found = (record: Sent, source: 'cached' | 'live') =>
    ({ found: true, record, source, ...obtained() }) as const;
  const unanswered = (pending: PendingState) =>
    ({ found: false, code: 'PENDING', pending, ...obtained() }) as const;

  /** Undefined if the handle must be resolved. Without a plan, cached answers are ignored. */
  async function walletOnRecord(
    subject: Subject,
    signal: AbortSignal | undefined,
    plan: LookupPlan | undefined,
  ) {
    const answer = plan
      ? await users.answer(subject, signal, plan)
      : await users.ask(subject, signal);
    // A wallet may have been verified since, and a resolve is expensive.
    const isOutdated = answer.found && answer.from === 'cache' && !revealsWallet(answer.record);
    return fromLookup(isOutdated ? await users.ask(subject, signal) : answer);
  }

  /**
   * Uses the result of another machine that is resolving the same handle, unless it takes too long.
   */
  async function searchTogether(
    subject: Subject,
    signal: AbortSignal | undefined,
  ): Promise<LookupAnswer> {
    const wanted = {
      endpoint: 'user.resolve',
      subject: subject.normal,
      maxAgeMs: SHARED_MS,
      missAgeMs: SHARED_MISS_MS,
      waitMs: waitMs || UNSTATED_MS,
    } as const;
    const claim = await options.claim?.(wanted, signal);
    if (claim?.by === 'other' && claim.failure) return { found: null, failure: claim.failure };
    const other = claim?.by === 'cache' ? await fromOther(subject, claim.answer) : undefined;
    return other ?? (await withClaim(claim, () => search(subject, signal), shareable));
  }

  async function fromOther(
    subject: Subject,
    other: SharedAnswer,
  ): Promise<LookupAnswer | undefined> {
    if (other.status === 404) return { found: false, code: 'NOT_OBSERVED', ...obtained() };
    const sent = isRecord(other.record) ? other.record : {};
    if (other.status === 202) return unanswered(readPending(known(Pending, sent)));
    const user = recognize('user', sent)?.record;
    if (!user) return undefined;
    await users.keep(subject, user);
    return found(user, 'cached');
  }

  async function search(subject: Subject, signal: AbortSignal | undefined): Promise<LookupAnswer> {
    const until = clock.mono() + waitMs;
    let lost = 0;
    let failure: unknown;
    let pending: PendingState | undefined;
    for (let round = 0; ; round++) {
      try {
        const ask = { params: { handle: subject.value } };
        const repetition = { repeat: lost > 0, until: pending && until };
        const result = await client.call('user.resolve', ask, { signal, ...repetition });
        if (result.status === 200) {
          await users.keep(subject, result.record);
          return found(
            result.record,
            result.headers[RESOLVE_HEADER] === 'cached' ? 'cached' : 'live',
          );
        }
        pending = readPending(result.known);
      } catch (error) {
        // The rate limit would delay the repetition beyond the wait that the user allows.
        if (pending && isTooLate(error)) return unanswered(pending);
        pending = undefined;
        // No limit allows the repetition, so the lost answer is the failure.
        if (lost > 0 && error instanceof Failure && error.kind === 'limit') {
          return answerOf(failure, clock.now());
        }
        if (!isLost(error) || ++lost >= LOST_LIMIT || !client.affords(cu.miss + cu.reveal)) {
          return answerOf(error, clock.now());
        }
        failure = error;
        // A repetition is charged again, while the lost resolve may soon be on record: try the
        // lookup for 100 CU first.
        const soon = error.code === 'BAD_ANSWER' ? 0 : Math.min(UNSTATED_MS, until - clock.mono());
        if (soon > 0) await stand(subject, { reason: 'timeout', againInMs: soon }, signal);
        const known = await walletOnRecord(subject, signal, undefined);
        if (known) return known;
        if (clock.mono() >= until) return answerOf(error, clock.now());
        continue;
      }
      const wait = waitFor(pending, round);
      if (!pending.retryable || pending.reason === 'no_preview' || clock.mono() + wait > until) {
        return unanswered(pending);
      }
      const { reason, position } = pending;
      await stand(subject, { reason, position, againInMs: wait }, signal);
    }
  }

  async function stand(
    { text: subject }: Subject,
    how: Omit<ResolveProgress, 'subject'>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    options.onStanding?.({ subject, ...how });
    await clock.sleep(how.againInMs, signal);
  }

  return async (
    subject: Subject,
    signal?: AbortSignal,
    plan = users.plan(subject),
  ): Promise<LookupAnswer> => {
    const onRecord = direct ? undefined : await walletOnRecord(subject, signal, plan);
    return onRecord ?? (await searchTogether(subject, signal));
  };
}

export const revealsWallet = (user: Sent): boolean => holdsWallet(known(User, user));

/** The status means "no answer yet", even if the body is incomplete. */
const readPending = ({
  reason,
  retryable,
  retryAfterSeconds,
  position,
}: Known<Pending>): PendingState => ({
  reason: reason ?? 'unknown',
  retryable: retryable ?? reason !== 'no_preview',
  ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  ...(position !== undefined && { position }),
});

function shareable(answer: LookupAnswer): SharedAnswer | Failure {
  if (answer.found === null) return answer.failure;
  const { time } = answer;
  if (answer.found) return { time, status: 200, record: answer.record };
  return { time, status: answer.pending ? 202 : 404, record: answer.pending ?? null };
}

/** Every request is charged, so the waits grow unless the service states them. */
const waitFor = ({ reason, retryAfterSeconds }: PendingState, round: number): number =>
  retryAfterSeconds === undefined
    ? Math.min(LONGEST_MS, (unstated[reason] ?? UNSTATED_MS) * 1.5 ** round)
    : Math.max(1, retryAfterSeconds) * 1000;

/** Not sent, because the rate limit would have delayed the call beyond `until`. */
const isTooLate = (error: unknown) =>
  error instanceof Failure &&
  error.kind === 'rate' &&
  !error.retryable &&
  error.status === undefined;

const isLost = (error: unknown): error is Failure =>
  error instanceof Failure && mayBeCharged(error);

function fromLookup(answer: LookupAnswer): LookupAnswer | undefined {
  if (answer.found === null) return answer;
  return answer.found && revealsWallet(answer.record) ? { ...answer, source: 'held' } : undefined;
}
