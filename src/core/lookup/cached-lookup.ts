import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { ANSWER_AGE_MS, missAgeOf, SHARED_AGE_MS } from '../../contract/answer-age.ts';
import {
  type AnswerCache,
  type SharedAnswer,
  type UserEndpoint,
  withClaim,
} from '../../contract/ports/answers.ts';
import type {
  Book,
  Former,
  KnownName,
  Miss,
  Name,
  NameType,
  PersonReading,
  RenamedUser,
  ReusedHandle,
} from '../../contract/ports/book.ts';
import type { Client, RequestParts } from '../../contract/ports/client.ts';
import { known, recognize, type Sent } from '../../contract/read-record.ts';
import { User } from '../../contract/records/user.ts';
import {
  contradictedAt,
  type KeptAnswer,
  keptAnswer,
  namesIn,
  ownersSeen,
  possibleOwners,
} from './book-answers.ts';
import { answerOf, type LookupAnswer, NOT_ASKED } from './lookup.ts';
import type { LookupCall, UserCall } from './lookup-call.ts';
import { bearerId, followRenames, renamedUser } from './renames.ts';
import type { Subject } from './subject.ts';
import {
  type AskedName,
  findOwner,
  type OwnerSources,
  planOwner,
  type WalletWay,
} from './wallet-owner.ts';

/**
 * How a subject will be looked up. It contains what the book has, so that the run uses what its
 * estimate counted on, even if the answer expires meanwhile: an age counts from when the plan is
 * made.
 */
export interface LookupPlan {
  /** What is looked up: in place of an old handle, the id of its user. */
  readonly subject: Subject;
  /** What will be requested; empty if the book has a fresh answer. */
  readonly calls: readonly LookupCall[];
  /** The answer, if the book has a fresh one. */
  readonly answer?: LookupAnswer;
  /** How many different users the book knows for a wallet. */
  readonly owners?: number;
}

export interface LookupSources {
  readonly client: Pick<Client, 'call'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Everybody who was read before; undefined with --no-cache. */
  readonly book?: Book | undefined;
  /** What machines share, and the launchpad accounts that this machine has cached. */
  readonly answers?: AnswerCache | undefined;
  readonly maxAgeMs?: number | undefined;
  readonly way?: WalletWay | undefined;
  /** How many of the people who were seen with a wallet are read again at most; all by default. */
  readonly mostOwners?: number | undefined;
  readonly onReused?: ((reused: readonly ReusedHandle[]) => void) | undefined;
  /** Called with the old handles, whose users are looked up by id. */
  readonly onRenamed?: ((renamed: readonly RenamedUser[]) => void) | undefined;
}

const endpointOf = (type: NameType): UserEndpoint => `user.${type}`;
const nameOf = ({ type, value, normal }: Subject): AskedName => ({ type, value, normal });

/**
 * Looks up users by the book and, where it has no fresh answer, by the service. Every answer feeds
 * the book.
 */
export class CachedLookup {
  readonly #sources: LookupSources;
  readonly #maxAgeMs: number;
  readonly #missAgeMs: number;
  readonly #way: WalletWay;
  readonly #mostOwners: number;
  #isLaunchpadDenied = false;

  constructor(sources: LookupSources) {
    this.#sources = sources;
    this.#maxAgeMs = sources.maxAgeMs ?? ANSWER_AGE_MS;
    this.#missAgeMs = missAgeOf(this.#maxAgeMs);
    this.#way = sources.way ?? 'cheapest';
    this.#mostOwners = sources.mostOwners ?? Number.POSITIVE_INFINITY;
  }

  /** Plans a lookup by what the book has now. Sends nothing. */
  plan(subject: Subject): LookupPlan {
    const [plan] = this.planAll([subject]);
    return plan ?? this.#planBy(subject, undefined);
  }

  /** Plans many lookups; each file of the book is read once. */
  planAll(subjects: readonly Subject[]): readonly LookupPlan[] {
    const entries = this.#look(subjects);
    const followed = this.#follow(subjects, entries);
    const moved = followed.filter((subject, at) => subject !== subjects[at]);
    const movedEntries = new Map(this.#look(moved).map((entry, at) => [moved[at], entry]));
    return followed.map((subject, at) =>
      this.#planBy(subject, movedEntries.has(subject) ? movedEntries.get(subject) : entries[at]),
    );
  }

  /** The subjects, with the id of their user in place of each handle that the book knows as old. */
  follow(subjects: readonly Subject[]): readonly Subject[] {
    const handles = subjects.filter(({ type }) => type === 'handle');
    const entries = new Map(this.#look(handles).map((entry, at) => [handles[at], entry]));
    return this.#follow(
      subjects,
      subjects.map((subject) => entries.get(subject)),
    );
  }

  #follow(
    subjects: readonly Subject[],
    entries: readonly (KnownName | undefined)[],
  ): readonly Subject[] {
    const { onRenamed, onReused } = this.#sources;
    const followed = followRenames(subjects, entries);
    if (followed.renamed.length > 0) onRenamed?.(followed.renamed);
    if (followed.reused.length > 0) onReused?.(followed.reused);
    return followed.subjects;
  }

  /**
   * Looks a subject up as planned. What the book did not have then is looked for again, because the
   * run may have found it since: the record of a wallet is also that of its handle.
   */
  answer(
    subject: Subject,
    signal?: AbortSignal,
    planned?: LookupPlan,
  ): LookupAnswer | Promise<LookupAnswer> {
    if (planned?.answer) return planned.answer;
    const name = nameOf(subject);
    const [entry] = this.#look([name]);
    const kept = this.#kept(name, entry);
    const bearer = name.type === 'handle' ? this.#bearerOf(name, entry, kept) : undefined;
    if (kept && !bearer) return fromKept(kept);
    if (bearer) {
      const first = kept ? fromKept(kept) : this.#call(name, signal, notBefore(entry));
      return this.#findByHandle(name, first, bearer, signal);
    }
    if (name.type !== 'wallet' || this.#way === 'direct')
      return this.#call(name, signal, notBefore(entry));
    return this.#findOwner(name, entry, signal);
  }

  /** The owner of a wallet by the cheap ways only; undefined if they end without an answer. */
  answerCheaply(subject: Subject, signal?: AbortSignal): Promise<LookupAnswer | undefined> {
    const name = nameOf(subject);
    return this.#findCheaply(name, this.#look([name])[0], signal);
  }

  /** The service's own answer to a wallet of which the cheap ways were tried. */
  answerDirectly(subject: Subject, signal?: AbortSignal): Promise<LookupAnswer> {
    return this.#call(nameOf(subject), signal);
  }

  /** Requests the answer even if the book has one. */
  ask(subject: Subject, signal?: AbortSignal): Promise<LookupAnswer> {
    return this.#callService(nameOf(subject), signal);
  }

  /** Keeps a user whom another call found by a handle. */
  keep(subject: Subject, user: Sent): Promise<void> {
    return this.#keepUser(nameOf(subject), user, this.#sources.clock.now());
  }

  /** What a user was called and owned before, oldest first, by what was read on this machine. */
  historyOf(user: Sent): readonly Former[] {
    const { id } = known(User, user);
    const [entry] = id === undefined ? [] : this.#look([{ type: 'id', normal: id.toLowerCase() }]);
    return entry?.people[0]?.person.was ?? [];
  }

  #planBy(subject: Subject, entry: KnownName | undefined): LookupPlan {
    const name = nameOf(subject);
    const kept = this.#kept(name, entry);
    if (subject.type !== 'wallet') {
      const bearer = subject.type === 'handle' ? this.#bearerOf(name, entry, kept) : undefined;
      const again = bearer && { ...callOf(bearer), isSure: kept !== undefined };
      if (kept && !again) return { subject, calls: [], answer: fromKept(kept) };
      return {
        subject,
        calls: [...(kept ? [] : [lookupCall(subject)]), ...(again ? [again] : [])],
      };
    }
    const owners = ownersSeen(name.normal, entry);
    if (kept) return { subject, owners, calls: [], answer: fromKept(kept) };
    if (this.#way === 'direct') return { subject, owners, calls: [lookupCall(subject)] };
    const account = this.#cachedAccount(name.normal)?.account;
    const clues = this.#clues(name.normal, entry);
    return { subject, owners, calls: planOwner(name, clues, account, this.#way, callOf) };
  }

  /** What the book has of a wallet, with no more people than may be read again. */
  #clues(wallet: string, entry: KnownName | undefined): KnownName | undefined {
    if (entry === undefined || entry.people.length <= this.#mostOwners) return entry;
    const owners = possibleOwners(wallet, entry).slice(0, this.#mostOwners);
    return { ...entry, people: entry.people.filter(({ person }) => owners.includes(person)) };
  }

  #look(names: readonly Name[]): readonly (KnownName | undefined)[] {
    return this.#sources.book?.look(names) ?? [];
  }

  #kept(name: Name, entry: KnownName | undefined): KeptAnswer | undefined {
    const kept = keptAnswer(name, entry, ({ time, user }) =>
      this.#isWithin(time, user ? this.#maxAgeMs : this.#missAgeMs),
    );
    // The service's own choice among several users of a wallet is its own answer to it.
    return this.#way === 'direct' && name.type === 'wallet' && kept?.via === 'book'
      ? undefined
      : kept;
  }

  /**
   * A user whom the book knows with a handle that the service does not know any more was probably
   * renamed, and the id stays the same.
   */
  async #findByHandle(
    handle: AskedName,
    first: LookupAnswer | Promise<LookupAnswer>,
    bearer: AskedName,
    signal: AbortSignal | undefined,
  ): Promise<LookupAnswer> {
    const answer = await first;
    if (answer.found !== false) return answer;
    const user = await this.#call(bearer, signal, answer.time);
    if (user.found === false) return answer;
    const renamed = renamedUser(handle.value, this.#look([handle])[0]);
    if (renamed) this.#sources.onRenamed?.([renamed]);
    return user;
  }

  /**
   * The user whom the book knows with a handle that has no fresh answer, or one that there is
   * nobody. Undefined if the service holds nothing under the id either.
   */
  #bearerOf(
    handle: AskedName,
    entry: KnownName | undefined,
    kept: KeptAnswer | undefined,
  ): AskedName | undefined {
    const id = kept?.user ? undefined : bearerId(handle.value, entry);
    if (id === undefined) return undefined;
    const name = { type: 'id', value: id, normal: id } as const;
    const isGone = this.#look([name])[0]?.answered?.person === null;
    return isGone ? undefined : name;
  }

  async #findOwner(
    wallet: AskedName,
    entry: KnownName | undefined,
    signal: AbortSignal | undefined,
  ): Promise<LookupAnswer> {
    const found = await this.#findCheaply(wallet, entry, signal);
    if (found) return found;
    if (this.#way === 'cheap') return { found: null, failure: notAsked() };
    return this.#call(wallet, signal);
  }

  async #findCheaply(
    wallet: AskedName,
    entry: KnownName | undefined,
    signal: AbortSignal | undefined,
  ): Promise<LookupAnswer | undefined> {
    const { clock, book } = this.#sources;
    const sources: OwnerSources = {
      now: clock.now,
      kept: (name) => this.#kept(name, this.#look([name])[0]),
      ask: (name) => this.#call(name, signal, notBefore(this.#look([name])[0])),
      account: (name) => this.#account(name, signal),
      noteTried: async (normal, name, at) => book?.noteTried(normal, name, at),
    };
    const seen = entry?.people.length ? entry : await this.#shared(wallet, signal);
    return findOwner(wallet, this.#clues(wallet.normal, seen ?? entry), sources);
  }

  /** Whom another machine has read with this wallet, however long ago. */
  async #shared(
    wallet: AskedName,
    signal: AbortSignal | undefined,
  ): Promise<KnownName | undefined> {
    const wanted = {
      endpoint: 'user.wallet',
      subject: wallet.normal,
      maxAgeMs: SHARED_AGE_MS,
      missAgeMs: 0,
    } as const;
    const claim = await this.#sources.answers?.claim?.(wanted, signal);
    if (claim?.by === 'us') await claim.end();
    return claim?.by === 'cache' ? this.#look([wallet])[0] : undefined;
  }

  /**
   * The launchpad account of a wallet. A plan without access to the launchpad counts as "no
   * account".
   */
  async #account(wallet: AskedName, signal: AbortSignal | undefined): Promise<LookupAnswer> {
    const { answers, clock } = this.#sources;
    const cached = this.#cachedAccount(wallet.normal);
    if (cached) return accountAnswer(cached.account, cached.time, 'cache');
    if (this.#isLaunchpadDenied) return accountAnswer(null, clock.now(), 'cache');
    const wanted = {
      endpoint: 'launchpad.user',
      subject: wallet.normal,
      maxAgeMs: this.#maxAgeMs,
      missAgeMs: this.#maxAgeMs,
    } as const;
    const claim = await answers?.claim?.(wanted, signal);
    if (claim?.by === 'other' && claim.failure) return { found: null, failure: claim.failure };
    const shared = claim?.by === 'cache' ? this.#cachedAccount(wallet.normal) : undefined;
    if (shared) return accountAnswer(shared.account, shared.time, 'cache');
    return await withClaim(
      claim,
      () => this.#requestAccount(wallet, signal),
      (answer) => (answer.found === null ? answer.failure : undefined),
    );
  }

  async #requestAccount(wallet: AskedName, signal: AbortSignal | undefined): Promise<LookupAnswer> {
    const { answers, client, clock } = this.#sources;
    try {
      const ask = { params: { wallet: wallet.value } };
      const { record } = await client.call('launchpad.user', ask, { signal });
      const time = clock.now();
      await answers?.put('launchpad.user', wallet.normal, { time, status: 200, record });
      return accountAnswer(record, time, 'service');
    } catch (error) {
      const time = clock.now();
      if (error instanceof Failure && error.kind === 'forbidden') {
        this.#isLaunchpadDenied = true;
        return accountAnswer(null, time, 'service');
      }
      const answer = answerOf(error, time);
      if (answer.found === false) {
        const miss = { time, status: 404, record: null } as const;
        await answers?.put('launchpad.user', wallet.normal, miss);
      }
      return answer;
    }
  }

  /**
   * The launchpad account of a wallet, or that it has none, which is kept for as long: it is a clue
   * to the owner, and no answer.
   */
  #cachedAccount(wallet: string): { time: number; account: Sent | null } | undefined {
    const saved = this.#sources.answers?.get('launchpad.user', wallet);
    if (saved === undefined || !this.#isWithin(saved.time, this.#maxAgeMs)) return undefined;
    if (saved.status === 404) return { time: saved.time, account: null };
    const account = recognize('launchpadUser', saved.record)?.record;
    return account && { time: saved.time, account };
  }

  /** A negative age means that the clock was wrong, or is wrong now. */
  #isWithin(time: number, maxAgeMs: number): boolean {
    const age = this.#sources.clock.now() - time;
    return age >= 0 && age < maxAgeMs;
  }

  /** Requests an answer, or gets the one that another machine has requested or is requesting. */
  async #call(
    name: AskedName,
    signal: AbortSignal | undefined,
    /** Answers of other machines must be newer than this. */
    after = Number.NEGATIVE_INFINITY,
  ): Promise<LookupAnswer> {
    const wanted = {
      endpoint: endpointOf(name.type),
      subject: name.normal,
      maxAgeMs: Math.max(0, Math.min(this.#maxAgeMs, this.#sources.clock.now() - after)),
      missAgeMs: this.#missAgeMs,
    };
    const claim = await this.#sources.answers?.claim?.(wanted, signal);
    if (claim?.by === 'other' && claim.failure) return { found: null, failure: claim.failure };
    if (claim?.by === 'cache') {
      const shared = fromShared(claim.answer);
      if (shared) return shared;
    }
    return await withClaim(
      claim,
      () => this.#callService(name, signal),
      (answer) => (answer.found === null ? answer.failure : undefined),
    );
  }

  /** Keeps a 200 or a `NOT_OBSERVED` and nothing else. */
  async #callService(name: AskedName, signal: AbortSignal | undefined): Promise<LookupAnswer> {
    const { book, answers } = this.#sources;
    const answer = await this.#request(name, signal);
    if (answer.found) await this.#keepUser(name, answer.record, answer.time);
    if (answer.found === false && answer.code === 'NOT_OBSERVED') {
      const { time } = answer;
      await book?.keep([{ time, asked: name, isMiss: true }]);
      await answers?.share?.(endpointOf(name.type), name.normal, {
        time,
        status: 404,
        record: null,
      });
    }
    return answer;
  }

  async #request(name: AskedName, signal: AbortSignal | undefined): Promise<LookupAnswer> {
    const { client, clock } = this.#sources;
    const { id, ask } = callOf(name);
    try {
      const { record } = await client.call(id, ask, { signal });
      return { found: true, record, time: clock.now(), from: 'service' };
    } catch (error) {
      return answerOf(error, clock.now());
    }
  }

  async #keepUser(asked: Name, user: Sent, time: number): Promise<void> {
    const { book, answers, onReused } = this.#sources;
    const reading = readingOf(user, time, asked);
    const reused = (await book?.keep([reading])) ?? [];
    if (reused.length > 0) onReused?.(reused);
    const answer = { time, status: 200, record: user } as const;
    for (const { type, normal } of namesIn(user, asked)) {
      await answers?.share?.(endpointOf(type), normal, answer);
    }
  }
}

/** When something was stated that the records of these people do not have. */
const notBefore = (entry: KnownName | undefined): number | undefined => {
  const times = entry?.people.flatMap(({ person }) => contradictedAt(person) ?? []) ?? [];
  return times.length === 0 ? undefined : Math.max(...times);
};

const notAsked = () =>
  new Failure('missing', 'the cheap ways found nobody with this wallet', { code: NOT_ASKED });

/** What a user record says about a person. */
function readingOf(user: Sent, time: number, asked?: Name): PersonReading {
  const { id, handle, solanaAddress, evmAddress, twitter } = known(User, user);
  const identity = { handle, solanaAddress, evmAddress, twitter };
  return { time, id, identity, record: user, asked };
}

/** What a saved answer to a name says; undefined if it is not a user record. */
export function readingOfAnswer(
  asked: Name,
  { status, time, record }: SharedAnswer,
): PersonReading | Miss | undefined {
  if (status === 404) return { time, asked, isMiss: true };
  const user = recognize('user', record)?.record;
  return user && { ...readingOf(user, time, asked), mayBeOld: true };
}

function fromShared({ status, time, record }: SharedAnswer): LookupAnswer | undefined {
  if (status === 404) return { found: false, code: 'NOT_OBSERVED', time, from: 'cache' };
  const user = recognize('user', record)?.record;
  return user && { found: true, record: user, time, from: 'cache' };
}

const fromKept = ({ time, user, via }: KeptAnswer): LookupAnswer =>
  user
    ? { found: true, record: user, time, from: via }
    : { found: false, code: 'NOT_OBSERVED', time, from: via };

const paramOf = { handle: 'handle', wallet: 'address', id: 'id' } as const;

function callOf({ type, value }: AskedName): UserCall {
  return {
    id: endpointOf(type),
    ask: { params: { [paramOf[type]]: value } } as RequestParts<UserEndpoint>,
  };
}

function accountAnswer(
  account: Sent | null,
  time: number,
  from: 'cache' | 'service',
): LookupAnswer {
  if (account === null) return { found: false, code: 'NOT_OBSERVED', time, from };
  return { found: true, record: account, time, from };
}

/** The call for a subject of which nothing is kept. */
export const lookupCall = (subject: Subject): LookupCall => ({
  ...callOf(nameOf(subject)),
  isSure: true,
});
