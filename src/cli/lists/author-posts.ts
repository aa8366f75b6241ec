import { Failure } from '../../base/failure.ts';
import { cu, THESIS_BLOCK } from '../../contract/limits.ts';
import { known, type Sent } from '../../contract/read-record.ts';
import { User } from '../../contract/records/user.ts';
import type { CachedLookup, LookupPlan } from '../../core/lookup/cached-lookup.ts';
import type { LookupAnswer } from '../../core/lookup/lookup.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import { thesisCall, thesisFeed } from '../../core/pages/feeds.ts';
import { gatherPosts } from '../../core/pages/gather.ts';
import type { WalkOptions } from '../../core/pages/walk.ts';
import { PLACEHOLDER } from '../../core/spend/plan.ts';
import { type RangeFlags, readRange } from '../args/list-flags.ts';
import type { SubjectPlan } from '../lookup/lookup-task.ts';
import { serviceClock } from '../lookup/service-time.ts';
import { savingTokens } from '../lookup/token.ts';
import type { Context } from '../run/context.ts';
import {
  AuthorsOfPosts,
  about,
  type KeptPost,
  type ReadTheses,
  type RecordedTheses,
} from './recorded-theses.ts';

/** Which posts of an author are read. */
export interface PostsAsked extends RangeFlags {
  /** The most posts of an author; undefined if there is no maximum. */
  readonly rows: number | undefined;
  /** Only those about these tokens; empty for all. */
  readonly tokens: readonly string[];
}

/** The posts of one author, and where they are from. */
export interface AuthorPosts extends ReadTheses {
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
  ): readonly SubjectPlan[];
}

/** Reads the posts of authors from the service: their own pages. */
export class ServedAuthors implements AuthorSource {
  readonly isOffline = false;
  readonly #context: Context;
  readonly #asked: PostsAsked;
  readonly #users: CachedLookup;
  #walk: Promise<WalkOptions> | undefined;

  constructor(context: Context, asked: PostsAsked, users: CachedLookup) {
    this.#context = context;
    this.#asked = asked;
    this.#users = users;
  }

  plan(
    subjects: readonly Subject[],
    answer: (posts: AuthorPosts) => LookupAnswer,
  ): readonly SubjectPlan[] {
    return this.#users.planAll(subjects).map((plan) => {
      const kept = plan.answer;
      if (kept?.found === false) return { calls: plan.calls, find: () => kept };
      const id = idOf(plan);
      return {
        calls: [
          ...(isUnasked(plan) ? [] : plan.calls),
          {
            ...thesisCall(this.#scope(id ?? PLACEHOLDER), { limit: this.#pageRows }),
            times:
              this.#asked.rows === undefined ? null : Math.ceil(this.#asked.rows / THESIS_BLOCK),
            least: id === undefined ? 0 : cu.thesisBlock,
          },
        ],
        find: (signal) => this.#find(plan, answer, signal),
      };
    });
  }

  get #pageRows(): number {
    return Math.min(this.#asked.rows ?? THESIS_BLOCK, THESIS_BLOCK);
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
    const { service, terminal } = this.#context;
    const feed = thesisFeed(await service.client(), this.#scope(id));
    this.#walk ??= this.#openWalk();
    const walk = await this.#walk;
    const read = await gatherPosts(feed, { ...walk, signal });
    for await (const _ of savingTokens(read.posts, this.#context));
    const posts = read.posts.filter(about(this.#asked.tokens));
    return answer({ ...read, posts, id, user, readAt: terminal.io.clock.now(), via: 'service' });
  }

  /** Ages such as 2h count by the clock of the service. */
  async #openWalk(): Promise<WalkOptions> {
    const { terminal, settings } = this.#context;
    const { since, until, rows: limit } = this.#asked;
    const isTimed = since !== undefined || until !== undefined;
    const clock = isTimed ? await serviceClock(this.#context) : terminal.io.clock;
    return { ...readRange(this.#asked, clock.now(), settings.utc), limit, clock };
  }

  #scope(userId: string) {
    const { tokens } = this.#asked;
    return { userId, tokenAddress: tokens.length === 1 ? tokens[0] : undefined };
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

/**
 * The fields of which positions are made: files may have more posts than memory has room for. The id
 * is the text, because a copy of a number does not keep its digits.
 */
export const positionPost: KeptPost = (
  {
    authorId,
    authorHandle,
    authorName,
    authorIsDev,
    tokenAddress,
    tokenNetwork,
    tokenSymbol,
    holdingsUsd,
    authorTradeUsd,
    pnl,
    realizedPnlUsd,
    unrealizedPnlUsd,
    percentageRealizedPnl,
    percentageUnrealizedPnl,
    closedAt,
    platformCreatedAt,
    updatedAt,
  },
  id,
) => ({
  id,
  authorId,
  authorHandle,
  authorName,
  authorIsDev,
  tokenAddress,
  tokenNetwork,
  tokenSymbol,
  holdingsUsd,
  authorTradeUsd,
  pnl,
  realizedPnlUsd,
  unrealizedPnlUsd,
  percentageRealizedPnl,
  percentageUnrealizedPnl,
  closedAt,
  platformCreatedAt,
  updatedAt,
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

  plan(
    subjects: readonly Subject[],
    answer: (posts: AuthorPosts) => LookupAnswer,
  ): readonly SubjectPlan[] {
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
