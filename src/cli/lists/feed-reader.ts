import type { Clock } from '../../base/clock.ts';
import { NUMBERS_AGE_MS } from '../../contract/answer-age.ts';
import { CALLOUT_PAGE, THESIS_BLOCK } from '../../contract/limits.ts';
import type { Client } from '../../contract/ports/client.ts';
import {
  type CalloutScope,
  calloutCall,
  calloutSource,
  type ThesisScope,
  thesisCall,
  thesisSource,
} from '../../core/pages/feeds.ts';
import { mayProbe } from '../../core/pages/page-size.ts';
import type { PageRow } from '../../core/pages/post.ts';
import {
  feedName,
  type KeptFeed,
  type ReadPosts,
  SavedPages,
} from '../../core/pages/saved-pages.ts';
import { type PositionPost, positionPosts } from '../../core/positions/positions.ts';
import { notSent, type Planned, type PlannedEndpoint } from '../../core/spend/plan.ts';
import { type RangeFlags, readRange } from '../args/list-flags.ts';
import { serviceClock } from '../lookup/service-time.ts';
import { openAnswers } from '../run/answers.ts';
import type { Context } from '../run/context.ts';

export interface CacheFlags {
  readonly noCache: boolean;
  readonly maxAge: number | undefined;
}

/** The setting is meant for records of users: figures of posts change as fast as numbers do. */
export const answerAge = ({ settings }: Pick<Context, 'settings'>, { maxAge }: CacheFlags) =>
  maxAge ?? Math.min(settings.maxAge, NUMBERS_AGE_MS);

/** Posts that a run will read, and the calls that this takes. */
export interface PlannedPosts<P> {
  readonly calls: readonly Planned[];
  /** The posts, if all of them are saved. */
  readonly saved?: ReadPosts<P> | undefined;
  readonly read: (signal: AbortSignal) => Promise<ReadPosts<P>>;
}

/** The newest posts of a feed. */
interface AskedFeed<P> extends KeptFeed<P> {
  /** The posts of a page that is counted in a plan. */
  readonly perPage: number;
  /** The most posts; undefined if there is no maximum. */
  readonly limit: number | undefined;
}

/** So many posts take some 10 MB. */
const MOST_KEPT = 20_000;

type FeedClient = Pick<Client, 'call' | 'affords'>;

export const thesisFeed = (
  client: FeedClient,
  scope: ThesisScope,
  limit?: number,
): AskedFeed<PositionPost> => ({
  call: thesisCall(scope, { limit: Math.min(limit ?? THESIS_BLOCK, THESIS_BLOCK) }),
  source: thesisSource(client, scope),
  keep: positionPosts().keep,
  perPage: THESIS_BLOCK,
  limit,
});

export const calloutFeed = (
  client: FeedClient,
  scope: CalloutScope,
  limit?: number,
): AskedFeed<PageRow> => ({
  call: calloutCall(scope, {}),
  source: calloutSource(client, scope),
  keep: (row) => row,
  perPage: CALLOUT_PAGE,
  limit,
});

/** The pages of a feed that are left if so many posts are saved. */
export const pagesLeft = (
  { call, perPage, limit }: AskedFeed<unknown>,
  saved = 0,
  isSure = false,
): PlannedEndpoint => ({
  ...call,
  times: limit === undefined ? null : Math.ceil((limit - saved) / perPage),
  isSure,
});

/** The pages that are left, and one more block that a test of larger pages may cost. */
function callsLeft(feed: AskedFeed<unknown>, saved: number, isSure: boolean): PlannedEndpoint[] {
  const { call, source, limit = 0 } = feed;
  const probes = mayProbe(limit, source.sizes) ? [{ ...call, isSure: false }] : [];
  return [pagesLeft(feed, saved, isSure), ...probes];
}

/** Reads the posts of feeds in a range. Pages that are saved are not requested again. */
export class FeedReader<P> {
  readonly #context: Context;
  readonly #range: RangeFlags;
  readonly #pages: SavedPages;
  /** Reads of this run: two subjects may be one author, or one wallet. */
  readonly #reads = new Map<string, Promise<ReadPosts<P>>>();
  /** Those that have ended; they are forgotten when they have many posts. */
  readonly #ended = new Set<string>();
  #posts = 0;
  #clock: Promise<Clock> | undefined;

  private constructor(context: Context, range: RangeFlags, pages: SavedPages) {
    this.#context = context;
    this.#range = range;
    this.#pages = pages;
  }

  static async open<P>(
    context: Context,
    range: RangeFlags,
    { noCache, maxAge }: CacheFlags,
  ): Promise<FeedReader<P>> {
    const { settings, terminal, bill } = context;
    const age = answerAge(context, { noCache, maxAge });
    const cache = noCache ? undefined : await openAnswers(context);
    if (cache) bill.isCached = settings.folders.cache !== undefined;
    return new FeedReader(context, range, new SavedPages(cache, terminal.io.clock.now, age));
  }

  /** Sends nothing. */
  async plan(feed: AskedFeed<P>): Promise<PlannedPosts<P>> {
    const { io, signal } = this.#context.terminal;
    const read = (stop: AbortSignal) => this.#readOnce(feed, stop);
    const saved = await this.#pages.saved(feed, this.#walk(feed, io.clock, signal));
    const { failure, posts } = saved;
    // Where a range ends is known by the clock of the service, for which a run asks.
    if (this.#isTimed)
      return { calls: callsLeft(feed, 0, failure !== undefined && posts.length === 0), read };
    if (failure) return { calls: callsLeft(feed, posts.length, true), read };
    return { calls: [notSent(feed.call)], saved, read: async () => saved };
  }

  async #readOnce(feed: AskedFeed<P>, signal: AbortSignal): Promise<ReadPosts<P>> {
    const name = `${feed.call.id} ${feedName(feed.call)}`;
    const earlier = this.#reads.get(name);
    if (earlier !== undefined) return await earlier;
    const reading = this.#read(feed, signal);
    this.#reads.set(name, reading);
    try {
      const read = await reading;
      if (read.failure === undefined) this.#ended.add(name);
      else this.#reads.delete(name);
      this.#posts += read.posts.length;
      if (this.#posts > MOST_KEPT) this.#forget();
      return read;
    } catch (error) {
      this.#reads.delete(name);
      throw error;
    }
  }

  #forget(): void {
    for (const name of this.#ended) this.#reads.delete(name);
    this.#ended.clear();
    this.#posts = 0;
  }

  async #read(feed: AskedFeed<P>, signal: AbortSignal): Promise<ReadPosts<P>> {
    const { io } = this.#context.terminal;
    this.#clock ??= this.#isTimed ? serviceClock(this.#context) : Promise.resolve(io.clock);
    return await this.#pages.read(feed, this.#walk(feed, await this.#clock, signal));
  }

  get #isTimed(): boolean {
    return this.#range.since !== undefined || this.#range.until !== undefined;
  }

  #walk({ limit }: AskedFeed<unknown>, clock: Clock, signal: AbortSignal) {
    const range = readRange(this.#range, clock.now(), this.#context.settings.utc);
    return { ...range, limit, clock, signal };
  }
}
