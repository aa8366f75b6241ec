import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { isRecord } from '../../base/json-object.ts';
import { RESOLVE_HEADER } from '../../contract/endpoints.ts';
import { normalHandle } from '../../contract/handles.ts';
import { cu, RESOLVES_PER_MINUTE } from '../../contract/limits.ts';
import type { AnswerCache, SharedAnswer } from '../../contract/ports/answers.ts';
import type { Client } from '../../contract/ports/client.ts';
import { known, type Sent } from '../../contract/read-record.ts';
import { recognize } from '../../contract/record-types.ts';
import { holdsWallet, Pending, User } from '../../contract/records/user.ts';
import { isLost, type NextStep, stepAfter } from '../client/resend-rule.ts';
import type { CachedLookup } from './cached-lookup.ts';
import {
  answerOf,
  askTogether,
  heldAnswer,
  type LookupAnswer,
  type PendingState,
} from './lookup.ts';
import type { Subject } from './subject.ts';

export interface ResolveProgress {
  readonly subject: string;
  readonly reason: string;
  readonly position?: number | undefined;
  readonly againInMs: number;
}

export interface ResolverOptions {
  readonly client: Pick<Client, 'call' | 'affords'>;
  readonly clock: Clock;
  readonly users: CachedLookup;
  readonly direct?: boolean | undefined;
  /** How long to request the answer again while the service has none; 0 requests it only once. */
  readonly waitMs?: number | undefined;
  readonly onWait?: ((progress: ResolveProgress) => void) | undefined;
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
 * How long other machines can use a wallet that was found. This machine uses it longer, from its
 * cache.
 */
const SHARED_MS = 60_000;
/**
 * The same for a resolve that found none: just long enough for machines that are already waiting
 * for it.
 */
const SHARED_MISS_MS = 2_000;

/** Finds the wallet of a handle as cheaply as possible. */
export class Resolver {
  readonly #options: ResolverOptions;

  constructor(options: ResolverOptions) {
    this.#options = options;
  }

  async resolve(
    subject: Subject,
    signal?: AbortSignal,
    plan = this.#options.users.plan(subject),
  ): Promise<LookupAnswer> {
    const { users, direct = false } = this.#options;
    if (direct && plan.subject === subject) return await this.#searchTogether(subject, signal);
    const user = await plan.find(signal);
    const onRecord = await walletOnRecord(users, plan.subject, signal, user);
    return onRecord ?? (await this.#searchTogether(calledNow(subject, user), signal));
  }

  /**
   * Uses the result of another machine that is resolving the same handle or has just resolved it,
   * unless it takes too long; otherwise resolves the handle and shares the result.
   */
  async #searchTogether(subject: Subject, signal: AbortSignal | undefined): Promise<LookupAnswer> {
    const { claim: claimAnswer, waitMs = WAIT_MS } = this.#options;
    const wanted = {
      endpoint: 'user.resolve',
      subject: subject.normal,
      maxAgeMs: SHARED_MS,
      missAgeMs: SHARED_MISS_MS,
      waitMs: waitMs || UNSTATED_MS,
    } as const;
    const claim = await claimAnswer?.(wanted, signal);
    const read = (answer: SharedAnswer) => this.#fromOther(subject, answer);
    const search = () => new Search(this.#options, subject, signal).run();
    return await askTogether(claim, read, search, shareable);
  }

  async #fromOther(subject: Subject, other: SharedAnswer): Promise<LookupAnswer | undefined> {
    const { clock, users } = this.#options;
    const time = clock.now();
    if (other.status === 404) return heldAnswer(null, time, 'service');
    const sent = isRecord(other.record) ? other.record : {};
    if (other.status === 202) return unanswered(readPending(sent), time);
    const user = recognize('user', sent)?.record;
    if (!user) return undefined;
    await users.keep(subject, user);
    return { found: true, record: user, source: 'cached', time, from: 'service' };
  }
}

/**
 * What follows from a request: the answer of the search, or how long to wait before the next
 * request.
 */
type Round = { readonly answer: LookupAnswer } | { readonly pending: PendingState } | Loss;

/** A resolve whose answer was lost, and what its rule allows next. */
interface Loss {
  readonly failure: Failure;
  readonly step: NextStep;
}

/**
 * One resolve, requested again while the service has no answer and the user waits. Each request is
 * charged, and so is one whose answer was lost, perhaps: `stepAfter` decides what follows then.
 */
class Search {
  readonly #options: ResolverOptions;
  readonly #subject: Subject;
  readonly #signal: AbortSignal | undefined;
  /** When the user waits no longer, by the monotonic clock. */
  readonly #until: number;
  #lost = 0;
  /** The failure of the last lost answer. */
  #failure: unknown;
  /** What the last answer said; undefined after a lost one. */
  #pending: PendingState | undefined;

  constructor(options: ResolverOptions, subject: Subject, signal: AbortSignal | undefined) {
    this.#options = options;
    this.#subject = subject;
    this.#signal = signal;
    this.#until = options.clock.mono() + (options.waitMs ?? WAIT_MS);
  }

  async run(): Promise<LookupAnswer> {
    const { clock } = this.#options;
    for (let round = 0; ; round++) {
      const result = await this.#request();
      if ('answer' in result) return result.answer;
      if ('step' in result) {
        const answer = await this.#afterLoss(result);
        if (answer) return answer;
        continue;
      }
      const { pending } = result;
      const wait = waitFor(pending, round);
      const isFinal = !pending.retryable || pending.reason === 'no_preview';
      if (isFinal || clock.mono() + wait > this.#until) return unanswered(pending, clock.now());
      const { reason, position } = pending;
      try {
        await this.#wait({ reason, position, againInMs: wait });
      } catch (error) {
        if (!this.#signal?.aborted) throw error;
        return unanswered(pending, clock.now());
      }
    }
  }

  async #request(): Promise<Round> {
    const { client, users } = this.#options;
    const ask = { params: { handle: this.#subject.value } };
    const repetition = { repeat: this.#lost > 0, until: this.#pending && this.#until };
    try {
      const how = { signal: this.#signal, ...repetition };
      const result = await client.call('user.resolve', ask, how);
      if (result.status === 200) {
        await users.keep(this.#subject, result.record);
        return { answer: this.#found(result.record, result.headers[RESOLVE_HEADER]) };
      }
      this.#pending = readPending(result.record);
      return { pending: this.#pending };
    } catch (error) {
      return this.#afterFailure(error);
    }
  }

  #found(record: Sent, header: string | undefined): LookupAnswer {
    const source = header === 'cached' ? 'cached' : 'live';
    return { found: true, record, source, time: this.#options.clock.now(), from: 'service' };
  }

  #afterFailure(error: unknown): Round {
    const { client, clock } = this.#options;
    const pending = this.#pending;
    // The rate limit would delay the repetition beyond the wait that the user allows, or the user
    // waits no longer. What the last answer said was paid for.
    const isOver = this.#signal?.aborted && !isLost(error);
    if (pending && (isOver || isTooLate(error)))
      return { answer: unanswered(pending, clock.now()) };
    this.#pending = undefined;
    // No limit allows the repetition, so the lost answer is the failure.
    if (this.#lost > 0 && error instanceof Failure && error.kind === 'limit')
      return { answer: answerOf(this.#failure, clock.now()) };
    if (!isLost(error)) return { answer: answerOf(error, clock.now()) };
    this.#lost++;
    this.#failure = error;
    const isCovered = client.affords(cu.miss + cu.reveal);
    const loss = { failure: error, isFree: false, rule: 'never', lost: this.#lost } as const;
    return { failure: error, step: stepAfter({ ...loss, isCovered }) };
  }

  /**
   * The lost resolve may still be running, and what it was charged for will soon be on record: the
   * lookup for 100 CU finds it, while a repetition would wait for the same search and be charged
   * again. Undefined if the handle must be resolved again.
   */
  async #afterLoss({ failure, step }: Loss): Promise<LookupAnswer | undefined> {
    const { client, clock, users } = this.#options;
    const givenUp = () => answerOf(failure, clock.now());
    if (this.#signal?.aborted || !client.affords(cu.miss)) return givenUp();
    const isComplete = failure.code === 'BAD_ANSWER';
    const soon = isComplete ? 0 : Math.min(UNSTATED_MS, this.#until - clock.mono());
    if (soon > 0) await this.#wait({ reason: 'timeout', againInMs: soon });
    const answer = await users.ask(this.#subject, this.#signal);
    const onRecord = await walletOnRecord(users, this.#subject, this.#signal, answer);
    if (onRecord?.found) return onRecord;
    return step === 'give up' || clock.mono() >= this.#until ? givenUp() : onRecord;
  }

  async #wait(how: Omit<ResolveProgress, 'subject'>): Promise<void> {
    this.#options.onWait?.({ subject: this.#subject.text, ...how });
    await this.#options.clock.sleep(how.againInMs, this.#signal);
  }
}

/** Live searches go by handle: for a user who was renamed, by the present one. */
function calledNow(subject: Subject, user: LookupAnswer): Subject {
  const handle = user.found ? known(User, user.record).handle : undefined;
  if (!handle) return subject;
  return { ...subject, value: handle, normal: normalHandle(handle) };
}

/**
 * The result of the lookup for 100 CU if that is final: it has a wallet, or it is a failure.
 * Undefined if the handle must be resolved.
 */
async function walletOnRecord(
  users: CachedLookup,
  subject: Subject,
  signal: AbortSignal | undefined,
  answer: LookupAnswer,
): Promise<LookupAnswer | undefined> {
  // A wallet may have been verified since, and a resolve is expensive.
  const isOutdated = answer.found && answer.from === 'cache' && !revealsWallet(answer.record);
  return fromLookup(isOutdated ? await users.ask(subject, signal) : answer);
}

const unanswered = (pending: PendingState, time: number): LookupAnswer => ({
  found: false,
  code: 'PENDING',
  pending,
  time,
  from: 'service',
});

export const revealsWallet = (user: Sent): boolean => holdsWallet(known(User, user));

/** The status means "no answer yet", even if the body is incomplete. */
function readPending(sent: Sent): PendingState {
  const { reason, retryable, retryAfterSeconds, position } = known(Pending, sent);
  const { pending: _, ...rest } = sent;
  return {
    reason: reason ?? 'unknown',
    retryable: retryable ?? reason !== 'no_preview',
    retryAfterSeconds,
    position,
    sent: rest,
  };
}

function shareable(answer: LookupAnswer): SharedAnswer | Failure {
  if (answer.found === null) return answer.failure;
  const { time } = answer;
  if (answer.found) return { time, status: 200, record: answer.record };
  return { time, status: answer.pending ? 202 : 404, record: answer.pending?.sent ?? null };
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

function fromLookup(answer: LookupAnswer): LookupAnswer | undefined {
  if (answer.found === null) return answer;
  return answer.found && revealsWallet(answer.record) ? { ...answer, source: 'held' } : undefined;
}
