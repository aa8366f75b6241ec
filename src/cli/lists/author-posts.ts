import { Failure } from '../../base/failure.ts';
import { textOf } from '../../base/json-object.ts';
import { known, type Sent } from '../../contract/read-record.ts';
import { User } from '../../contract/records/user.ts';
import type { CachedLookup, LookupPlan } from '../../core/lookup/cached-lookup.ts';
import type { LookupAnswer } from '../../core/lookup/lookup.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import { createFilter } from '../../core/pages/filter.ts';
import type { PageRow } from '../../core/pages/post.ts';
import type { ReadPosts } from '../../core/pages/saved-pages.ts';
import { notSent, PLACEHOLDER } from '../../core/spend/plan.ts';
import type { RangeFlags } from '../args/list-flags.ts';
import type { SubjectPlan } from '../lookup/lookup-task.ts';
import { savingTokens } from '../lookup/token.ts';
import type { Context } from '../run/context.ts';
import { type FeedReader, thesisPart } from './feed-reader.ts';
import { AuthorsOfPosts, type RecordedTheses } from './recorded-theses.ts';

/** Which posts of an author are read. */
export interface PostsAsked extends RangeFlags {
  /** The most posts of an author; undefined if there is no maximum. */
  readonly rows: number | undefined;
  /** Only those about these tokens; empty for all. */
  readonly tokens: readonly string[];
}

/** The posts of one author, and where they are from. */
export interface AuthorPosts extends ReadPosts {
  readonly id: string;
  /** The record of the author; undefined if it was not looked up. */
  readonly user: Sent | undefined;
}

/** Where the posts of authors are read from. */
export interface AuthorSource {
  /** Whether nothing is sent. */
  readonly isOffline: boolean;
  /** What is known of the authors, in the order of the subjects; `answer` makes it an answer. */
  plan(
    subjects: readonly Subject[],
    answer: (posts: AuthorPosts) => LookupAnswer,
  ): Promise<readonly SubjectPlan[]>;
}

/** Reads the posts of authors from the service: their own pages. */
export class ServedAuthors implements AuthorSource {
  readonly isOffline = false;
  readonly #context: Context;
  readonly #asked: PostsAsked;
  readonly #users: CachedLookup;
  readonly #feeds: FeedReader;

  constructor(context: Context, asked: PostsAsked, users: CachedLookup, feeds: FeedReader) {
    this.#context = context;
    this.#asked = asked;
    this.#users = users;
    this.#feeds = feeds;
  }

  async plan(
    subjects: readonly Subject[],
    answer: (posts: AuthorPosts) => LookupAnswer,
  ): Promise<readonly SubjectPlan[]> {
    const plans: SubjectPlan[] = [];
    for (const plan of this.#users.planAll(subjects)) plans.push(await this.#planOf(plan, answer));
    return plans;
  }

  async #planOf(
    plan: LookupPlan,
    answer: (posts: AuthorPosts) => LookupAnswer,
  ): Promise<SubjectPlan> {
    const user = plan.answer;
    if (user && !user.found) return { calls: plan.calls, find: () => user };
    const lookups = isUnasked(plan) ? [] : plan.calls;
    const id = idOf(plan);
    const find = (signal: AbortSignal) => this.#find(plan, answer, signal);
    if (id === undefined)
      return { calls: [...lookups, this.#feeds.planLater(this.#feedOf(PLACEHOLDER))], find };
    const { call, posts = await this.#savedOf(id) } = await this.#feeds.plan(this.#feedOf(id));
    if (posts === undefined) return { calls: [...lookups, call], find };
    const calls = [...lookups, notSent(call)];
    const known = answer({ ...this.#aboutTokens(posts), id, user: user?.record });
    return { calls, answer: known, find: () => known };
  }

  async #find(
    plan: LookupPlan,
    answer: (posts: AuthorPosts) => LookupAnswer,
    signal: AbortSignal,
  ): Promise<LookupAnswer> {
    const { subject } = plan;
    const found = isUnasked(plan) ? undefined : await plan.find(signal);
    if (found?.found === false || found?.found === null) return found;
    const user = found?.record;
    const id = user === undefined ? subject.value : known(User, user).id;
    if (id === undefined) return { found: null, failure: withoutId(subject.text) };
    const read = await this.#feeds.read(this.#feedOf(id), signal);
    for await (const _ of savingTokens(read.posts, this.#context));
    return answer({ ...this.#aboutTokens(read), id, user });
  }

  /** The posts about a token, if all posts of the author are saved. */
  async #savedOf(userId: string): Promise<ReadPosts | undefined> {
    const { tokens, rows } = this.#asked;
    if (tokens.length !== 1) return undefined;
    const { posts: all } = await this.#feeds.plan(thesisPart(this.#context.service, { userId }));
    // A post that does not say what it is about may be about this token.
    const isUnsure = all?.posts.some(({ record }) => !textOf(record['tokenAddress']));
    if (!all?.complete || isUnsure) return undefined;
    const posts = all.posts.filter(createFilter<PageRow>({ tokens }));
    const taken = posts.slice(0, rows);
    return { ...all, posts: taken, complete: taken.length === posts.length };
  }

  #aboutTokens(read: ReadPosts): ReadPosts {
    const { tokens } = this.#asked;
    // A feed about one token has only posts about it, even if one of them does not say so.
    if (tokens.length <= 1) return read;
    const isAbout = createFilter<PageRow>({ tokens });
    return { ...read, posts: read.posts.filter(isAbout) };
  }

  #feedOf(userId: string) {
    const { tokens, rows } = this.#asked;
    const scope = { userId, tokenAddress: tokens.length === 1 ? tokens[0] : undefined };
    return thesisPart(this.#context.service, scope, rows);
  }
}

/** An id is all that the posts of an author need, so it is not looked up. */
const isUnasked = ({ subject, answer }: LookupPlan): boolean =>
  subject.type === 'id' && answer === undefined;

function idOf({ subject, answer }: LookupPlan): string | undefined {
  if (answer?.found) return known(User, answer.record).id;
  return subject.type === 'id' ? subject.value : undefined;
}

const withoutId = (name: string): Failure =>
  new Failure('answer', `the record of ${name} has no user id`, {
    code: 'BAD_ANSWER',
    hint: 'pass a user id instead',
  });

/** Reads the posts of authors from files. */
export class RecordedAuthors implements AuthorSource {
  readonly isOffline = true;
  readonly #recorded: RecordedTheses;
  readonly #authors: AuthorsOfPosts;
  readonly #asked: PostsAsked;

  constructor(recorded: RecordedTheses, asked: PostsAsked) {
    this.#recorded = recorded;
    this.#authors = new AuthorsOfPosts(recorded.posts);
    this.#asked = asked;
  }

  async plan(
    subjects: readonly Subject[],
    answer: (posts: AuthorPosts) => LookupAnswer,
  ): Promise<readonly SubjectPlan[]> {
    const recorded = this.#recorded;
    return subjects.map((subject) => {
      const author = this.#authors.find(subject);
      return {
        calls: [],
        find: async () => {
          if (author === undefined)
            return { found: false, code: 'NOT_RECORDED', time: recorded.now, from: 'file' };
          const { id, posts } = author;
          const read = await recorded.gather(posts, { ...this.#asked, users: [id] });
          return answer({ ...read, id, user: undefined });
        },
      };
    });
  }
}
