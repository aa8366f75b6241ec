import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { ANSWER_AGE_MS, isWithin, missAgeOf, SHARED_AGE_MS } from '../../contract/answer-age.ts';
import type { AnswerCache } from '../../contract/ports/answers.ts';
import type {
  Book,
  Former,
  KnownName,
  Name,
  RenamedUser,
  ReusedHandle,
} from '../../contract/ports/book.ts';
import type { Client } from '../../contract/ports/client.ts';
import { known, type Sent } from '../../contract/read-record.ts';
import { User } from '../../contract/records/user.ts';
import type { PlannedEndpoint } from '../spend/plan.ts';
import { contradictedAt, keptAnswer, ownersSeen, possibleOwners } from './book-answers.ts';
import { LaunchpadAccounts } from './launchpad-accounts.ts';
import { type HeldAnswer, type LookupAnswer, NOT_ASKED } from './lookup.ts';
import { type AskedName, callOf, keptCallOf } from './lookup-call.ts';
import { bearerId, followRenames, renamedUser } from './renames.ts';
import type { Subject } from './subject.ts';
import { UserCalls } from './user-calls.ts';
import { findOwner, type OwnerSources, planOwner, type WalletWay } from './wallet-owner.ts';

/**
 * How a subject will be looked up. It contains what the book has, so that the run uses what its
 * estimate counted on, even if the answer expires meanwhile: an age counts from when the plan is
 * made.
 */
export interface LookupPlan {
  /** What is looked up: in place of an old handle, the id of its user. */
  readonly subject: Subject;
  /** What will be requested; if the book has a fresh answer, the call that is not sent. */
  readonly calls: readonly PlannedEndpoint[];
  /** The answer, if the book has a fresh one. */
  readonly answer?: LookupAnswer;
  /** How many different users the book knows for a wallet. */
  readonly owners?: number | undefined;
  /** The cheap ways to an answer, where there is a dear one too. */
  readonly findCheaply?: (signal: AbortSignal) => Promise<LookupAnswer | undefined>;
  readonly find: (signal?: AbortSignal) => LookupAnswer | Promise<LookupAnswer>;
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
  /**
   * Called with wallets of several people, of whom the book has one, who need not be the service's
   * own choice.
   */
  readonly onShared?: ((wallets: readonly string[]) => void) | undefined;
  /** Called with the old handles, whose users are looked up by id. */
  readonly onRenamed?: ((renamed: readonly RenamedUser[]) => void) | undefined;
}

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
  readonly #calls: UserCalls;
  readonly #accounts: LaunchpadAccounts;
  /** The wallets of which the cheap ways have ended without an answer. */
  readonly #tried = new Set<string>();

  constructor(sources: LookupSources) {
    this.#sources = sources;
    this.#maxAgeMs = sources.maxAgeMs ?? ANSWER_AGE_MS;
    this.#missAgeMs = missAgeOf(this.#maxAgeMs);
    this.#way = sources.way ?? 'cheapest';
    this.#mostOwners = sources.mostOwners ?? Number.POSITIVE_INFINITY;
    this.#calls = new UserCalls(sources, this.#maxAgeMs);
    this.#accounts = new LaunchpadAccounts(sources, this.#maxAgeMs);
  }

  /** Plans a lookup by what the book has now. Sends nothing. */
  plan(subject: Subject): LookupPlan {
    const [plan = this.#planBy(subject, undefined)] = this.planAll([subject]);
    return plan;
  }

  /** Plans many lookups; each file of the book is read once. */
  planAll(subjects: readonly Subject[]): readonly LookupPlan[] {
    const entries = this.#look(subjects);
    const followed = this.#follow(subjects, entries);
    const moved = followed.filter((subject, at) => subject !== subjects[at]);
    const movedEntries = new Map(this.#look(moved).map((entry, at) => [moved[at], entry]));
    const plans = followed.map((subject, at) =>
      this.#planBy(subject, movedEntries.has(subject) ? movedEntries.get(subject) : entries[at]),
    );
    const shared = plans.filter(({ owners = 0 }) => owners > 1).map(({ subject }) => subject.text);
    if (shared.length > 0 && this.#way !== 'direct') this.#sources.onShared?.(shared);
    return plans;
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
   * Looks a subject up. What the book did not have when it was planned is looked for again, because
   * the run may have found it since: the record of a wallet is also that of its handle.
   */
  answer(subject: Subject, signal?: AbortSignal): LookupAnswer | Promise<LookupAnswer> {
    const name = nameOf(subject);
    const [entry] = this.#look([name]);
    const { kept, bearer } = this.#inBook(name, entry);
    if (kept && !bearer) return kept;
    if (bearer) {
      const first = kept ?? this.#calls.call(name, signal, notBefore(entry));
      return this.#findByHandle(name, first, bearer, signal);
    }
    const isDirect = this.#way === 'direct' || this.#tried.has(name.normal);
    if (name.type !== 'wallet' || isDirect) return this.#calls.call(name, signal, notBefore(entry));
    return this.#findOwner(name, entry, signal);
  }

  /** Requests the answer even if the book has one. */
  ask(subject: Subject, signal?: AbortSignal): Promise<LookupAnswer> {
    return this.#calls.ask(nameOf(subject), signal);
  }

  /** Keeps a user whom another call found by a handle. */
  keep(subject: Subject, user: Sent): Promise<void> {
    return this.#calls.keep(nameOf(subject), user, this.#sources.clock.now());
  }

  /** What a user was called and owned before, oldest first, by what was read on this machine. */
  historyOf(user: Sent): readonly Former[] {
    const { id } = known(User, user);
    const [entry] = id === undefined ? [] : this.#look([{ type: 'id', normal: id.toLowerCase() }]);
    return entry?.people[0]?.person.was ?? [];
  }

  #planBy(subject: Subject, entry: KnownName | undefined): LookupPlan {
    const name = nameOf(subject);
    const { kept, bearer } = this.#inBook(name, entry);
    const owners = name.type === 'wallet' ? ownersSeen(name.normal, entry) : undefined;
    if (kept && !bearer) return keptPlan(subject, owners, kept);
    const find = (signal?: AbortSignal) => this.answer(subject, signal);
    if (name.type !== 'wallet' || this.#way === 'direct') {
      const again = bearer && { ...callOf(bearer), isSure: kept !== undefined };
      const calls = [...(kept ? [] : [callOf(name)]), ...(again ? [again] : [])];
      return { subject, owners, calls, find };
    }
    const account = this.#accounts.cached(name.normal);
    const clues = this.#clues(name.normal, entry);
    const calls = planOwner(name, clues, account, this.#way);
    if (this.#way === 'cheap') return { subject, owners, calls, find };
    const findCheaply = (signal: AbortSignal) => this.#tryCheaply(name, signal);
    return { subject, owners, calls, find, findCheaply };
  }

  async #tryCheaply(wallet: AskedName, signal: AbortSignal): Promise<LookupAnswer | undefined> {
    const answer = await this.#findCheaply(wallet, this.#look([wallet])[0], signal);
    if (answer === undefined) this.#tried.add(wallet.normal);
    return answer;
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

  /** The fresh answer of the book to a name, and who is asked for if it is a handle without one. */
  #inBook(name: AskedName, entry: KnownName | undefined) {
    const kept = this.#kept(name, entry);
    const bearer = name.type === 'handle' ? this.#bearerOf(name, entry, kept) : undefined;
    return { kept, bearer };
  }

  #kept(name: Name, entry: KnownName | undefined): HeldAnswer | undefined {
    const kept = keptAnswer(name, entry, ({ time, user }) =>
      isWithin(time, user ? this.#maxAgeMs : this.#missAgeMs, this.#sources.clock.now()),
    );
    // The service's own choice among several users of a wallet is its own answer to it.
    return this.#way === 'direct' && name.type === 'wallet' && kept?.from === 'book'
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
    const user = await this.#calls.call(bearer, signal, answer.time);
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
    kept: HeldAnswer | undefined,
  ): AskedName | undefined {
    const id = kept?.found ? undefined : bearerId(handle.value, entry);
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
    return this.#calls.call(wallet, signal);
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
      ask: (name) => this.#calls.call(name, signal, notBefore(this.#look([name])[0])),
      account: (name) => this.#accounts.find(name, signal),
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
}

/** When something was stated that the records of these people do not have. */
const notBefore = (entry: KnownName | undefined): number | undefined => {
  const times = entry?.people.flatMap(({ person }) => contradictedAt(person) ?? []) ?? [];
  return times.length === 0 ? undefined : Math.max(...times);
};

const notAsked = () =>
  new Failure('missing', 'the cheap ways found nobody with this wallet', { code: NOT_ASKED });

/** It holds nothing but the answer, because a run may have ten thousand of them. */
const keptPlan = (
  subject: Subject,
  owners: number | undefined,
  answer: LookupAnswer,
): LookupPlan => ({ subject, owners, calls: [keptCallOf(subject)], answer, find: () => answer });
