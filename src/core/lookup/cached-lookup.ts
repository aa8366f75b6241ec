import type { Clock } from '../../base/clock.ts';
import { normalHandle } from '../../contract/handles.ts';
import {
  type AnswerCache,
  type CachedAnswer,
  type SharedAnswer,
  type UserEndpoint,
  withClaim,
} from '../../contract/ports/answers.ts';
import type { Client, RequestParts } from '../../contract/ports/client.ts';
import { known, recognize, type Sent } from '../../contract/read-record.ts';
import { User } from '../../contract/records/user.ts';
import { answerOf, type LookupAnswer } from './lookup.ts';
import { isUserId, type Subject, type SubjectType } from './subject.ts';

/** A call that a lookup will make, or may make if `isSure` is false. */
export interface LookupCall {
  readonly id: UserEndpoint;
  readonly ask: RequestParts<UserEndpoint>;
  readonly isSure: boolean;
}

/**
 * How a subject will be looked up. It contains what the cache has, so that the run uses what its
 * estimate counted on, even if the answer expires meanwhile: an age counts from when the plan is
 * made.
 */
export interface LookupPlan {
  /** What will be requested; empty if the cache has the answer. */
  readonly calls: readonly LookupCall[];
  /** The answer, if the cache has a fresh one. */
  readonly answer?: LookupAnswer;
  /**
   * A user of the cache whose record is too old. Through its id, a wallet is looked up for less.
   */
  readonly expired?: Sent | undefined;
}

interface SavedUser {
  readonly time: number;
  readonly user: Sent | null;
}

type Name = Pick<Subject, 'value' | 'normal'>;

const endpointOf = (type: SubjectType): UserEndpoint => `user.${type}`;

/** The maximum age of a cached answer without --max-age. */
const MAX_AGE_MS = 3_600_000;
/** The same for "not found": shorter, because the subject may get a verified link at any time. */
export const MISS_AGE_MS = 300_000;

/** Looks up users by the cache and, where it has no fresh answer, by the service. */
export class CachedLookup {
  readonly #client: Pick<Client, 'call'>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #cache: AnswerCache | undefined;
  readonly #maxAgeMs: number;
  readonly #missAgeMs: number;

  constructor(
    client: Pick<Client, 'call'>,
    clock: Pick<Clock, 'now'>,
    cache?: AnswerCache,
    maxAgeMs = MAX_AGE_MS,
  ) {
    this.#client = client;
    this.#clock = clock;
    this.#cache = cache;
    this.#maxAgeMs = maxAgeMs;
    this.#missAgeMs = Math.min(MISS_AGE_MS, maxAgeMs);
  }

  /** Plans a lookup by what the cache has now. Sends nothing. */
  plan(subject: Subject): LookupPlan {
    const endpoint = endpointOf(subject.type);
    const saved = this.#saved(endpoint, subject.normal);
    if (saved && this.#isFresh(saved)) return { calls: [], answer: fromCache(saved) };
    const expired = saved?.user ?? undefined;
    const asked = { id: endpoint, ask: askFor(endpoint, subject.value) };
    const id = expired && idOf(expired);
    if (id === undefined || subject.type !== 'wallet')
      return { calls: [{ ...asked, isSure: true }] };
    const byId = this.#saved('user.id', id.toLowerCase());
    if (byId?.user && this.#isFresh(byId)) {
      if (holds(byId.user, subject)) return { calls: [], expired };
      return { calls: [{ ...asked, isSure: true }], expired };
    }
    const first = { id: 'user.id', ask: askFor('user.id', id), isSure: true } as const;
    return { calls: [first, { ...asked, isSure: false }], expired };
  }

  /**
   * Looks a subject up as planned. What was not cached then is looked for again, because the run
   * may have found it since: the record of a wallet is also that of its handle.
   */
  answer(
    subject: Subject,
    signal?: AbortSignal,
    planned?: LookupPlan,
  ): LookupAnswer | Promise<LookupAnswer> {
    if (planned?.answer) return planned.answer;
    const plan = this.plan(subject);
    return plan.answer ?? this.#request(subject, plan.expired, signal);
  }

  /** Requests the answer even if the cache has one. */
  ask(subject: Subject, signal?: AbortSignal): Promise<LookupAnswer> {
    return this.#callService(endpointOf(subject.type), subject, signal);
  }

  /** Caches a user whom another call found by a handle. */
  keep(subject: Subject, user: Sent): Promise<void> {
    return this.#keepUser(endpointOf(subject.type), subject.normal, user, this.#clock.now());
  }

  async #request(
    subject: Subject,
    expired: Sent | undefined,
    signal: AbortSignal | undefined,
  ): Promise<LookupAnswer> {
    const refreshed =
      expired && subject.type === 'wallet'
        ? await this.#refresh(subject, expired, signal)
        : undefined;
    return refreshed ?? (await this.#call(endpointOf(subject.type), subject, signal));
  }

  /**
   * Asks for a wallet through the id of its user, which is cheaper. Undefined if the user no longer
   * has the wallet.
   */
  async #refresh(
    subject: Subject,
    user: Sent,
    signal: AbortSignal | undefined,
  ): Promise<LookupAnswer | undefined> {
    const value = idOf(user);
    if (value === undefined) return undefined;
    const id = { value, normal: value.toLowerCase() };
    const saved = this.#saved('user.id', id.normal);
    const answer: LookupAnswer =
      saved?.user && this.#isFresh(saved)
        ? fromCache(saved)
        : await this.#call('user.id', id, signal);
    if (answer.found === null) return answer;
    if (!answer.found || !holds(answer.record, subject)) return undefined;
    const { time, record } = answer;
    await this.#cache?.put('user.wallet', subject.normal, { time, status: 200, record });
    return answer;
  }

  /** Requests an answer, or gets the one that another machine has requested or is requesting. */
  async #call(
    endpoint: UserEndpoint,
    subject: Name,
    signal: AbortSignal | undefined,
  ): Promise<LookupAnswer> {
    const wanted = {
      endpoint,
      subject: subject.normal,
      maxAgeMs: this.#maxAgeMs,
      missAgeMs: this.#missAgeMs,
    };
    const claim = await this.#cache?.claim?.(wanted, signal);
    if (claim?.by === 'other' && claim.failure) return { found: null, failure: claim.failure };
    if (claim?.by === 'cache') {
      const shared = readUser(claim.answer);
      if (shared) return fromCache(shared);
    }
    return await withClaim(
      claim,
      () => this.#callService(endpoint, subject, signal),
      (answer) => (answer.found === null ? answer.failure : undefined),
    );
  }

  /** Caches a 200 or a `NOT_OBSERVED` and nothing else. */
  async #callService(
    endpoint: UserEndpoint,
    subject: Name,
    signal: AbortSignal | undefined,
  ): Promise<LookupAnswer> {
    try {
      const ask = askFor(endpoint, subject.value);
      const { record } = await this.#client.call(endpoint, ask, { signal });
      const time = this.#clock.now();
      await this.#keepUser(endpoint, subject.normal, record, time);
      return { found: true, record, time, from: 'service' };
    } catch (error) {
      const answer = answerOf(error, this.#clock.now());
      if (answer.found === false && answer.code === 'NOT_OBSERVED') {
        const miss = { time: answer.time, status: 404, record: null } as const;
        await this.#cache?.put(endpoint, subject.normal, miss);
      }
      return answer;
    }
  }

  /**
   * Does not save the user under other wallets of the record: a wallet may be linked to several
   * users.
   */
  async #keepUser(endpoint: UserEndpoint, normal: string, user: Sent, time: number): Promise<void> {
    if (!this.#cache) return;
    const answer: CachedAnswer = { time, status: 200, record: user };
    const { id, handle } = known(User, user);
    const names = new Map<string, readonly [UserEndpoint, string]>();
    const add = (place: UserEndpoint, name: string) => names.set(`${place} ${name}`, [place, name]);
    add(endpoint, normal);
    if (id) add('user.id', id.toLowerCase());
    if (handle) add('user.handle', normalHandle(handle));
    for (const [place, name] of names.values()) await this.#cache.put(place, name, answer);
  }

  #saved(endpoint: UserEndpoint, normal: string): SavedUser | undefined {
    const entry = this.#cache?.get(endpoint, normal);
    return entry && readUser(entry);
  }

  #isFresh({ time, user }: SavedUser): boolean {
    const age = this.#clock.now() - time;
    // A negative age means that the clock was wrong, or is wrong now.
    return age >= 0 && age < (user ? this.#maxAgeMs : this.#missAgeMs);
  }
}

/** The call for a subject of which nothing is cached. */
export const lookupCall = ({ type, value }: Subject): LookupCall => ({
  id: endpointOf(type),
  ask: askFor(endpointOf(type), value),
  isSure: true,
});

function readUser({ status, time, record }: SharedAnswer): SavedUser | undefined {
  if (status === 404) return { time, user: null };
  const user = recognize('user', record)?.record;
  return user && { time, user };
}

const fromCache = ({ time, user }: SavedUser): LookupAnswer =>
  user
    ? { found: true, record: user, time, from: 'cache' }
    : { found: false, code: 'NOT_OBSERVED', time, from: 'cache' };

function holds(user: Sent, { normal }: Subject): boolean {
  const { solanaAddress, evmAddress } = known(User, user);
  return solanaAddress === normal || evmAddress?.toLowerCase() === normal;
}

/** Undefined if the service would reject it, because it is not a UUID. */
function idOf(user: Sent): string | undefined {
  const { id } = known(User, user);
  return id !== undefined && isUserId(id) ? id : undefined;
}

const paramOf = { 'user.handle': 'handle', 'user.wallet': 'address', 'user.id': 'id' } as const;
const askFor = (endpoint: UserEndpoint, value: string) =>
  ({ params: { [paramOf[endpoint]]: value } }) as RequestParts<UserEndpoint>;
