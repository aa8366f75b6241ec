import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import type { AnswerFlight, SharedAnswer } from '../../contract/answer-ports.ts';
import { recognize } from '../../contract/forms.ts';
import { RESOLVES_PER_MINUTE } from '../../contract/limits.ts';
import type { Client } from '../../contract/ports.ts';
import { cu } from '../../contract/prices.ts';
import { isRecord, type Known, known, type Sent } from '../../contract/read-record.ts';
import { holdsWallet, Pending, User } from '../../contract/records/user.ts';
import type { CachedLookup } from './cached-lookup.ts';
import { answerOf, type ErrorFields, errorFields, type LookupAnswer } from './lookup.ts';
import type { Subject } from './subject.ts';

/** Where the wallet came from: the lookup (held), the resolve's record (cached), or a live search. */
export type ResolveSource = 'held' | 'cached' | 'live';

/** One record per handle. */
export type ResolveOutput =
  | ({ readonly subject: string; readonly found: true; readonly source: ResolveSource } & Sent)
  | { readonly subject: string; readonly found: false; readonly code: string }
  | PendingRecord
  | { readonly subject: string; readonly found: null; readonly error: ErrorFields };

/** A handle without an answer yet. */
export type PendingRecord = {
  readonly subject: string;
  readonly found: false;
  readonly code: 'PENDING';
  readonly reason: string;
  readonly retryable: boolean;
  readonly retryAfterSeconds?: number;
  readonly position?: number;
};

/** The content of a 202. */
type PendingState = Pick<PendingRecord, 'reason' | 'retryable' | 'retryAfterSeconds' | 'position'>;

/** A record, and its failure if there is one. */
export interface Resolved {
  readonly record: ResolveOutput;
  readonly failure?: Failure | undefined;
}

/** Progress of a wait: its state, and when the next request follows. */
export interface ResolveProgress {
  readonly subject: string;
  readonly reason: string;
  /** Place in the queue; 1 is next up. */
  readonly position?: number | undefined;
  readonly againInMs: number;
}

export interface ResolverOptions {
  readonly client: Pick<Client, 'call' | 'mayRepeat'>;
  readonly clock: Clock;
  /** The cheap lookup, tried first. Its cached answers are used if they include a wallet. */
  readonly users: CachedLookup;
  /** Resolves at once, without the cheap lookup. */
  readonly direct?: boolean | undefined;
  /** Maximum time to wait for an answer; 0: do not wait. */
  readonly waitMs?: number | undefined;
  readonly onStanding?: ((standing: ResolveProgress) => void) | undefined;
  /** Resolves a handle once for all machines that want it; absent if machines do not share answers. */
  readonly flight?: AnswerFlight | undefined;
}

export const WAIT_MS = 60_000;

/** The maximum number of unanswered resolves during a wait, by the limit per minute. */
export const attemptsWithin = (waitMs: number): number => RESOLVES_PER_MINUTE * Math.ceil(waitMs / 60_000);

/** Waits by reason, if the service does not state one; each further one is half as long again. */
const unstated: Readonly<Record<string, number>> = {
  queued: 5_000,
  timeout: 2_000,
  unavailable: 10_000,
  rate_limited: 10_000,
  not_ingested: 3_000,
};
const UNSTATED_MS = 5_000;
const LONGEST_MS = 30_000;
/** How many answers may be lost before a resolve is given up. Each may have been charged as a hit. */
const LOST_ALLOWED = 2;
/** How long other machines may use a wallet that one of them resolved; they look for it in the cache before. */
const SHARED_MS = 60_000;
/** The same for a result without a wallet: only machines that waited for it use it. */
const SHARED_MISS_MS = 2_000;

/** Finds the wallet of a handle in the cheapest way. */
export type Resolver = (subject: Subject, signal?: AbortSignal) => Promise<Resolved>;

export function createResolver(options: ResolverOptions): Resolver {
  const { client, clock, users, direct = false, waitMs = WAIT_MS } = options;

  /** The record of a user whose wallet is on record; undefined if it must be resolved. */
  async function walletOnRecord(subject: Subject, signal: AbortSignal | undefined, refresh: boolean) {
    const look = refresh ? users.ask : users.answer;
    const answer = await look(subject, signal);
    // A cached answer without a wallet does not justify a resolve: the wallet may have been verified since.
    if (answer.found && !revealsWallet(answer.record) && answer.from === 'cache') {
      return fromLookup(subject, await users.ask(subject, signal));
    }
    return fromLookup(subject, answer);
  }

  return async (subject, signal) => {
    if (!direct) {
      const known = await walletOnRecord(subject, signal, false);
      if (known) return known;
    }
    return options.flight
      ? await searchTogether(options.flight, subject, signal)
      : await search(subject, signal);
  };

  /** Uses the result of another machine that is resolving the same handle. */
  async function searchTogether(
    flight: AnswerFlight,
    subject: Subject,
    signal: AbortSignal | undefined,
  ): Promise<Resolved> {
    const wanted = {
      endpoint: 'user.resolve',
      subject: subject.normal,
      maxAgeMs: SHARED_MS,
      missAgeMs: SHARED_MISS_MS,
      waitMs: waitMs || UNSTATED_MS,
    } as const;
    let own: Resolved | undefined;
    const ask = async () => {
      own = await search(subject, signal);
      return shareable(own, clock.now());
    };
    const other = await flight(wanted, ask, signal);
    return own ?? (other && (await fromOther(subject, other))) ?? (await search(subject, signal));
  }

  async function fromOther(subject: Subject, other: SharedAnswer | Failure): Promise<Resolved | undefined> {
    if (other instanceof Failure) return refusedBy(subject, other);
    if (other.status === 404)
      return { record: { subject: subject.text, found: false, code: 'NOT_OBSERVED' } };
    const sent = isRecord(other.record) ? other.record : {};
    if (other.status === 202) {
      return { record: pendingRecord(subject, readPending(known(Pending, sent))) };
    }
    const user = recognize('user', sent)?.record;
    if (!user) return undefined;
    await users.keep(subject, user);
    return found(subject, user, 'cached');
  }

  async function search(subject: Subject, signal: AbortSignal | undefined): Promise<Resolved> {
    const until = clock.mono() + waitMs;
    let lost = 0;
    let failure: unknown;
    for (let round = 0; ; round++) {
      let pending: PendingState;
      try {
        const ask = { params: { handle: subject.value } };
        const result = await client.call('user.resolve', ask, { signal, repeat: lost > 0 });
        if (result.status === 200) {
          await users.keep(subject, result.record);
          const source = result.headers['x-service-resolve'] === 'cached' ? 'cached' : 'live';
          return found(subject, result.record, source);
        }
        pending = readPending(result.known);
      } catch (error) {
        // Calls in flight have used what was left for a repeat: the lost answer is the result.
        if (lost > 0 && error instanceof Failure && error.kind === 'limit') {
          return refused(subject, failure, clock.now());
        }
        if (!isLost(error) || ++lost >= LOST_ALLOWED || !client.mayRepeat(cu.miss + cu.reveal)) {
          return refused(subject, error, clock.now());
        }
        failure = error;
        // The resolve may have been charged or may still be running; a repeat would join it and be charged
        // again. Its result is on record soon, so the lookup for 100 CU comes first.
        const soon = error.code === 'BAD_ANSWER' ? 0 : Math.min(UNSTATED_MS, until - clock.mono());
        if (soon > 0) await stand(subject, { reason: 'timeout', againInMs: soon }, signal);
        const known = await walletOnRecord(subject, signal, true);
        if (known) return known;
        if (clock.mono() >= until) return refused(subject, error, clock.now());
        continue;
      }
      const wait = waitFor(pending, round);
      if (!pending.retryable || pending.reason === 'no_preview' || clock.mono() + wait > until) {
        return { record: pendingRecord(subject, pending) };
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
}

const revealsWallet = (user: Sent) => holdsWallet(known(User, user));

/** A 202 means that the answer is not available yet, even with an incomplete body. */
const readPending = ({ reason, retryable, retryAfterSeconds, position }: Known<Pending>): PendingState => ({
  reason: reason ?? 'unknown',
  retryable: retryable ?? reason !== 'no_preview',
  ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  ...(position === undefined ? {} : { position }),
});

/** Every retry is charged, so waits grow unless the service states one. */
const waitFor = ({ reason, retryAfterSeconds }: PendingState, round: number): number =>
  retryAfterSeconds === undefined
    ? Math.min(LONGEST_MS, (unstated[reason] ?? UNSTATED_MS) * 1.5 ** round)
    : Math.max(1, retryAfterSeconds) * 1000;

/** Whether the resolve may have been served and charged although its answer is lost. */
const isLost = (error: unknown): error is Failure =>
  error instanceof Failure &&
  (error.code === 'BROKEN' ||
    error.code === 'NO_ANSWER' ||
    error.code === 'BAD_ANSWER' ||
    // A gateway that timed out, not the service.
    (error.kind === 'service' && error.code.startsWith('HTTP_5')));

/** The result of the lookup if it is final: a wallet, or a failure. Otherwise the resolve follows. */
function fromLookup(subject: Subject, answer: LookupAnswer): Resolved | undefined {
  if (answer.found === null) return refusedBy(subject, answer.failure);
  return answer.found && revealsWallet(answer.record) ? found(subject, answer.record, 'held') : undefined;
}

function found({ text: subject }: Subject, user: Sent, source: ResolveSource): Resolved {
  const first = { subject, found: true, source } as const;
  return { record: { ...first, ...user, ...first } };
}

/** A result as other machines get it. */
function shareable({ record, failure }: Resolved, time: number): SharedAnswer | Failure | undefined {
  if (failure) return failure;
  if (record.found === null) return undefined;
  if (!record.found) return { time, status: record.code === 'PENDING' ? 202 : 404, record };
  const { subject: _, found: __, source: ___, ...user } = record;
  return { time, status: 200, record: user };
}

function refused(subject: Subject, error: unknown, now: number): Resolved {
  const answer = answerOf(error, now);
  if (answer.found === null) return refusedBy(subject, answer.failure);
  return { record: { subject: subject.text, found: false, code: answer.code } };
}

const refusedBy = (subject: Subject, failure: Failure): Resolved => ({
  record: { subject: subject.text, found: null, error: errorFields(failure) },
  failure,
});

function pendingRecord(
  { text: subject }: Subject,
  { reason, retryable, retryAfterSeconds, position }: PendingState,
): PendingRecord {
  return {
    subject,
    found: false,
    code: 'PENDING',
    reason,
    retryable,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(position === undefined ? {} : { position }),
  };
}
