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

export type CachedLookup = ReturnType<typeof createCachedLookup>;

type Name = Pick<Subject, 'value' | 'normal'>;
type SavedUser = { readonly time: number; readonly user: Sent | null };

const endpointOf = (type: SubjectType): UserEndpoint => `user.${type}`;

/** Without --max-age. */
const MAX_AGE_MS = 3_600_000;
/** Shorter, because the subject may get a verified link at any time. */
export const MISS_AGE_MS = 300_000;
const PLANNED = 30_000;

export function createCachedLookup(
  client: Pick<Client, 'call'>,
  clock: Pick<Clock, 'now'>,
  cache?: AnswerCache,
  maxAgeMs = MAX_AGE_MS,
) {
  const missAgeMs = Math.min(MISS_AGE_MS, maxAgeMs);
  const planned = new Map<string, SavedUser>();

  function savedUser(endpoint: UserEndpoint, normal: string): SavedUser | undefined {
    const entry = cache?.get(endpoint, normal);
    return entry && readUser(entry);
  }

  function isFresh({ time, user }: SavedUser): boolean {
    const age = clock.now() - time;
    // A negative age means that the clock was wrong, or is wrong now.
    return age >= 0 && age < (user ? maxAgeMs : missAgeMs);
  }

  /** Or gets the answer that another machine has requested or is requesting. */
  async function call(
    endpoint: UserEndpoint,
    subject: Name,
    signal?: AbortSignal,
  ): Promise<LookupAnswer> {
    const claim = await cache?.claim?.(
      { endpoint, subject: subject.normal, maxAgeMs, missAgeMs },
      signal,
    );
    if (claim?.by === 'other' && claim.failure) return { found: null, failure: claim.failure };
    if (claim?.by === 'cache') {
      const shared = readUser(claim.answer);
      if (shared) return fromCache(shared);
    }
    return await withClaim(
      claim,
      () => callService(endpoint, subject, signal),
      (answer) => (answer.found === null ? answer.failure : undefined),
    );
  }

  /** Caches a 200 or a `NOT_OBSERVED` and nothing else. */
  async function callService(
    endpoint: UserEndpoint,
    subject: Name,
    signal?: AbortSignal,
  ): Promise<LookupAnswer> {
    try {
      const { record } = await client.call(endpoint, askFor(endpoint, subject.value), { signal });
      const time = clock.now();
      await keepUser(endpoint, subject.normal, record, time);
      return { found: true, record, time, from: 'service' };
    } catch (error) {
      const answer = answerOf(error, clock.now());
      if (answer.found === false && answer.code === 'NOT_OBSERVED') {
        await cache?.put(endpoint, subject.normal, {
          time: answer.time,
          status: 404,
          record: null,
        });
      }
      return answer;
    }
  }

  /** Not under other wallets of the record: a wallet may be linked to several users. */
  async function keepUser(
    endpoint: UserEndpoint,
    normal: string,
    user: Sent,
    time: number,
  ): Promise<void> {
    if (!cache) return;
    const answer: CachedAnswer = { time, status: 200, record: user };
    const { id, handle } = known(User, user);
    const names = new Map<string, readonly [UserEndpoint, string]>();
    const add = (place: UserEndpoint, name: string) => names.set(`${place} ${name}`, [place, name]);
    add(endpoint, normal);
    if (id) add('user.id', id.toLowerCase());
    if (handle) add('user.handle', normalHandle(handle));
    for (const [place, name] of names.values()) await cache.put(place, name, answer);
  }

  /** Cheaper, through the user's id. Undefined if the user no longer has the wallet. */
  async function refresh(subject: Subject, user: Sent, signal?: AbortSignal) {
    const value = idOf(user);
    if (value === undefined) return undefined;
    const id = { value, normal: value.toLowerCase() };
    const saved = savedUser('user.id', id.normal);
    const answer: LookupAnswer =
      saved?.user && isFresh(saved) ? fromCache(saved) : await call('user.id', id, signal);
    if (answer.found === null) return answer;
    if (!answer.found || !holds(answer.record, subject)) return undefined;
    const { time, record } = answer;
    await cache?.put('user.wallet', subject.normal, { time, status: 200, record });
    return answer;
  }

  function savedAnswer({ type, normal }: Subject): SavedUser | undefined {
    const saved = planned.get(`${type} ${normal}`);
    return saved && isFresh(saved) ? saved : savedUser(endpointOf(type), normal);
  }

  async function request(
    subject: Subject,
    saved: SavedUser | undefined,
    signal?: AbortSignal,
  ): Promise<LookupAnswer> {
    const refreshed =
      saved?.user && subject.type === 'wallet'
        ? await refresh(subject, saved.user, signal)
        : undefined;
    return refreshed ?? (await call(endpointOf(subject.type), subject, signal));
  }

  return {
    answer(subject: Subject, signal?: AbortSignal): LookupAnswer | Promise<LookupAnswer> {
      const saved = savedAnswer(subject);
      if (!saved || !isFresh(saved)) return request(subject, saved, signal);
      return fromCache(saved);
    },

    /** Requests the answer even if the cache has one. */
    ask: (subject: Subject, signal?: AbortSignal): Promise<LookupAnswer> =>
      callService(endpointOf(subject.type), subject, signal),

    /** Caches a user whom another call found by a handle. */
    keep: (subject: Subject, user: Sent): Promise<void> =>
      keepUser(endpointOf(subject.type), subject.normal, user, clock.now()),

    /** What `answer` would request now; it then uses the cached answer without reading it again. */
    plan(subject: Subject): readonly LookupCall[] {
      const endpoint = endpointOf(subject.type);
      const saved = savedUser(endpoint, subject.normal);
      if (saved && isFresh(saved)) {
        if (planned.size < PLANNED) planned.set(`${subject.type} ${subject.normal}`, saved);
        return [];
      }
      const asked = { id: endpoint, ask: askFor(endpoint, subject.value) };
      const id = saved?.user ? idOf(saved.user) : undefined;
      if (id === undefined || subject.type !== 'wallet') return [{ ...asked, isSure: true }];
      const byId = savedUser('user.id', id.toLowerCase());
      if (byId?.user && isFresh(byId))
        return holds(byId.user, subject) ? [] : [{ ...asked, isSure: true }];
      return [
        { id: 'user.id', ask: askFor('user.id', id), isSure: true },
        { ...asked, isSure: false },
      ];
    },
  };
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
