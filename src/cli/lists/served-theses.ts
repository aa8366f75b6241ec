import type { ReadPosts } from '../../core/pages/saved-pages.ts';
import type { PositionPost } from '../../core/positions/positions.ts';
import { notSent } from '../../core/spend/plan.ts';
import { noteAuthors } from '../lookup/author-notes.ts';
import { saveTokens } from '../lookup/token.ts';
import type { Context } from '../run/context.ts';
import { type FeedReader, type PlannedPosts, thesisFeed } from './feed-reader.ts';

/** Which theses are read: those by an author, those about tokens, or both. */
export interface AskedTheses {
  readonly userId?: string | undefined;
  /** EVM addresses are in lower case. Empty for all. */
  readonly tokens: readonly string[];
  /** The most posts; undefined if there is no maximum. */
  readonly limit: number | undefined;
}

/** Where theses are read from, of which positions are made: the service, or files in its place. */
export interface Theses {
  plan(asked: AskedTheses): Promise<PlannedPosts<PositionPost>>;
}

type ReadTheses = ReadPosts<PositionPost>;

export class ServedTheses implements Theses {
  readonly #context: Context;
  readonly #feeds: FeedReader<PositionPost>;

  constructor(context: Context, feeds: FeedReader<PositionPost>) {
    this.#context = context;
    this.#feeds = feeds;
  }

  async plan(asked: AskedTheses): Promise<PlannedPosts<PositionPost>> {
    const { userId, tokens, limit } = asked;
    // There is no feed of several tokens, so that of the author is read.
    const tokenAddress = tokens.length === 1 ? tokens[0] : undefined;
    const feed = thesisFeed(this.#context.service, { userId, tokenAddress }, limit);
    const { calls, saved, read } = await this.#feeds.plan(feed);
    const about = tokenAddress === undefined ? tokens : [];
    const posts = saved ? narrowed(saved, about) : await this.#savedAbout(asked);
    if (posts) return { calls: calls.map(notSent), saved: posts, read: async () => posts };
    return {
      calls,
      read: async (signal) => narrowed(await this.#noted(await read(signal), userId), about),
    };
  }

  /** The posts of an author about a token, if all posts of the author are saved. */
  async #savedAbout({ userId, tokens, limit }: AskedTheses): Promise<ReadTheses | undefined> {
    if (userId === undefined || tokens.length !== 1) return undefined;
    const { saved } = await this.#feeds.plan(thesisFeed(this.#context.service, { userId }));
    // A post that does not say what it is about may be about this token.
    if (!saved?.complete || saved.posts.some(({ token }) => token === null)) return undefined;
    const { posts } = narrowed(saved, tokens);
    const taken = posts.slice(0, limit);
    return { ...saved, posts: taken, complete: taken.length === posts.length };
  }

  async #noted(read: ReadTheses, userId: string | undefined): Promise<ReadTheses> {
    saveTokens(this.#context, read.posts);
    // Whose feed it is, a lookup knows better than the posts.
    if (userId === undefined) await noteAuthors(this.#context, read.posts);
    return read;
  }
}

/** The posts that are about one of these tokens, or may be, because they do not say. */
export const narrowed = (read: ReadTheses, tokens: readonly string[]): ReadTheses =>
  tokens.length === 0
    ? read
    : {
        ...read,
        posts: read.posts.filter(({ token }) => token === null || tokens.includes(token)),
      };
