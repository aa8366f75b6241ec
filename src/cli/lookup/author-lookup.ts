import { once } from '../../base/calls.ts';
import { Failure } from '../../base/failure.ts';
import { countText } from '../../base/units.ts';
import { known, type Sent } from '../../contract/read-record.ts';
import { User } from '../../contract/records/user.ts';
import type { LookupPlan } from '../../core/lookup/cached-lookup.ts';
import { type LookupAnswer, NOT_ASKED } from '../../core/lookup/lookup.ts';
import { ordered } from '../../core/lookup/ordered.ts';
import { bearerId, presentHandle } from '../../core/lookup/renames.ts';
import type { Subject, SubjectType } from '../../core/lookup/subject.ts';
import { normalName, normalToken } from '../../core/pages/filter.ts';
import { PLACEHOLDER, type Planned } from '../../core/spend/plan.ts';
import { namesText } from '../../output/notices.ts';
import { openBook } from '../run/answers.ts';
import type { Context } from '../run/context.ts';
import { openCachedLookup } from './open-lookup.ts';

/** The values of authors by which a feed is selected. */
interface Selector {
  /** The type of a subject that needs no lookup. */
  readonly type: SubjectType;
  readonly noun: string;
  /** Brings the spellings of a value to one. */
  readonly normal: (value: string) => string;
  valuesOf(user: Sent): readonly string[];
}

export const userIds: Selector = {
  type: 'id',
  noun: 'user id',
  normal: normalName,
  valuesOf: (user) => present([known(User, user).id]),
};

export const wallets: Selector = {
  type: 'wallet',
  noun: 'wallet',
  normal: normalToken,
  valuesOf(user) {
    const { solanaAddress, evmAddress } = known(User, user);
    return present([solanaAddress, evmAddress]);
  },
};

const present = (values: readonly (string | null | undefined)[]): string[] =>
  values.flatMap((value) => value || []);

/** Plans the lookup of authors for their user ids, or for their wallets. */
export async function planLookup(
  subjects: readonly Subject[],
  selector: Selector,
  context: Context,
): Promise<AuthorLookup> {
  const isNamed = ({ type }: Subject) => type === selector.type;
  const named = subjects.filter(isNamed);
  const unknown = subjects.filter((subject) => !isNamed(subject));
  // The dear call for a wallet is made by "trdr whois" alone, whose price is that of one subject.
  const users =
    unknown.length === 0 ? undefined : await openCachedLookup(context, { way: 'cheap' });
  const plans = users?.planAll(unknown) ?? [];
  // The book has the id of a user who was renamed, which is all that the feed of an author needs.
  const followed = plans.map(({ subject }) => subject).filter(isNamed);
  const values = [...named, ...followed];
  return new AuthorLookup({
    named: values.map(({ normal }) => normal).sort(),
    plans: plans.filter(({ subject }) => !isNamed(subject)),
    selector,
    context,
    bookAuthors: await knownAuthors(values.filter(isId), context),
  });
}

const isId = ({ type }: Subject): boolean => type === 'id';
const idOf = (subject: Subject) => (isId(subject) ? subject.normal : undefined);

/** What the book has of an author, for 0 CU. */
export interface KnownAuthor {
  readonly subject: Subject;
  readonly id: string | undefined;
  /** The present handle, for posts that lack the id of their author. */
  readonly handle: string | undefined;
}

/** The ids and handles of authors who were read before. Without a key, there is no book. */
export async function knownAuthors(
  subjects: readonly Subject[],
  context: Context,
): Promise<readonly KnownAuthor[]> {
  const { key, flags } = context.settings;
  const hasBook = subjects.length > 0 && (flags.sandbox || key.present !== undefined);
  const book = hasBook ? await openBook(context) : undefined;
  const entries = book?.look(subjects) ?? [];
  return subjects.map((subject, at) => ({
    subject,
    id: subject.type === 'handle' ? bearerId(subject.value, entries[at]) : idOf(subject),
    handle: presentHandle(entries[at]),
  }));
}

/** How an author was found, or not. */
interface FoundAuthor {
  readonly subject: Subject;
  readonly answer: LookupAnswer;
}

const notKept: LookupAnswer = {
  found: null,
  failure: new Failure('missing', 'not read before', { code: NOT_ASKED }),
};

interface PlannedLookup {
  /** The values that need no lookup. */
  readonly named: readonly string[];
  readonly plans: readonly LookupPlan[];
  readonly selector: Selector;
  readonly context: Context;
  readonly bookAuthors: readonly KnownAuthor[];
}

/** The ids or wallets of authors, and how those that the user did not name will be found. */
export class AuthorLookup {
  readonly #named: readonly string[];
  readonly #plans: readonly LookupPlan[];
  readonly #selector: Selector;
  readonly #context: Context;
  /** The handles of the users who were looked up, now or before, by their ids. */
  readonly handles = new Map<string, string>();

  constructor({ named, plans, selector, context, bookAuthors }: PlannedLookup) {
    for (const { id, handle } of bookAuthors) if (id && handle) this.handles.set(id, handle);
    this.#named = named;
    this.#plans = plans;
    this.#selector = selector;
    this.#context = context;
  }

  /**
   * Returns what to call at a post without the id of its author. Undefined if the handles of all
   * authors are known, by which such posts are recognized.
   */
  noticeUnnamed(ids: readonly string[]): (() => void) | undefined {
    const unnamed = ids.filter((id) => !this.handles.has(id));
    if (unnamed.length === 0) return undefined;
    const names = namesText(unnamed);
    return once(() =>
      this.#context.terminal.notice(
        `posts without an author id are left out, because the handle of ${names} is not known: run "trdr whois ${names}" once, or pass the handle`,
      ),
    );
  }

  get calls(): readonly Planned[] {
    return this.#plans.flatMap(({ calls }) => calls);
  }

  /**
   * The values for the calls of a plan. A placeholder replaces an unknown one: the price is the
   * same for each.
   */
  get planned(): readonly string[] {
    const looked = this.#plans.flatMap(({ answer }) =>
      answer?.found ? this.#selector.valuesOf(answer.record) : [PLACEHOLDER],
    );
    return [...this.#named, ...looked];
  }

  /** Whether an author is known already; true also without a lookup. */
  get isSure(): boolean {
    return this.#plans.length === 0 || this.planned.some((value) => value !== PLACEHOLDER);
  }

  /**
   * Finds the values as planned, in a fixed order; says who was not found, and throws if nobody
   * was.
   */
  async find(): Promise<readonly string[]> {
    const { signal } = this.#context.terminal;
    const ask = async (plan: LookupPlan): Promise<FoundAuthor> => ({
      subject: plan.subject,
      answer: await plan.find(signal),
    });
    const authors: FoundAuthor[] = [];
    for await (const author of ordered(this.#plans, ask, { signal })) authors.push(author);
    return this.#valuesOf(authors);
  }

  /** The same for 0 CU, by what was read before. */
  kept(): readonly string[] {
    return this.#valuesOf(
      this.#plans.map(({ subject, answer = notKept }) => ({ subject, answer })),
    );
  }

  #valuesOf(authors: readonly FoundAuthor[]): readonly string[] {
    const { valuesOf, normal } = this.#selector;
    const values = authors.map(({ answer }) => (answer.found ? valuesOf(answer.record) : []));
    for (const { answer } of authors) {
      const { id, handle } = answer.found ? known(User, answer.record) : {};
      if (id && handle) this.handles.set(id, handle);
    }
    this.#reportMissing(authors.filter((_, at) => values[at]?.length === 0));
    return distinctBy([...this.#named, ...values.flat()], normal);
  }

  /**
   * Prints a line for those who were not found. Nobody at all fails, and so does a failed lookup.
   */
  #reportMissing(missing: readonly FoundAuthor[]): void {
    for (const { answer } of missing)
      if (answer.found === null && answer.failure.code !== NOT_ASKED) throw answer.failure;
    const [first] = missing;
    if (first === undefined) return;
    const asked = this.#named.length + this.#plans.length;
    const names = namesText(missing.map(({ subject }) => subject.text));
    if (missing.length < asked) {
      const many = `${missing.length} of ${countText(asked, 'author')}`;
      this.#context.terminal.notice(`not found: ${names} (${many})`);
      return;
    }
    if (first.answer.found && asked === 1) throw withoutValue(names, this.#selector.noun);
    throw nobody(names, missing);
  }
}

const withoutValue = (name: string, noun: string): Failure =>
  new Failure('answer', `the record of ${name} has no ${noun}`, {
    code: 'BAD_ANSWER',
    hint: `pass a ${noun} instead of the handle`,
  });

function nobody(names: string, missing: readonly FoundAuthor[]): Failure {
  const answer = missing[0]?.answer;
  const isSearched = missing.every(({ answer: { found } }) => found === false);
  return new Failure('missing', `no user found for ${names}`, {
    code: answer?.found === false ? answer.code : NOT_ASKED,
    hint: isSearched
      ? 'check the spelling of the handle, or pass the user id'
      : `look it up once with "trdr whois", which may cost 30,000 CU, and is then kept`,
  });
}

/** The addresses without those that are there in another spelling, sorted. */
export const distinctAddresses = (addresses: readonly string[]): readonly string[] =>
  distinctBy(addresses, normalToken);

const distinctBy = (values: readonly string[], normal: (value: string) => string) =>
  [...new Map(values.map((value) => [normal(value), value])).values()].sort();
