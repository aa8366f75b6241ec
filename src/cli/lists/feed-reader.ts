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
import {
  type FeedCall,
  feedName,
  type ReadPosts,
  SavedPages,
} from '../../core/pages/saved-pages.ts';
import type { PageSource } from '../../core/pages/source.ts';
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

/** The newest posts of a feed. */
interface FeedPart {
  /** A page, as a plan has it. */
  readonly call: FeedCall;
  readonly source: PageSource;
  /** The posts of a page that is counted in a plan. */
  readonly perPage: number;
  /** The most posts; undefined if there is no maximum. */
  readonly limit: number | undefined;
}

/** What has to be requested of a feed, and its posts if nothing has. */
interface FeedPlan {
  readonly call: Planned;
  readonly posts: ReadPosts | undefined;
}

type FeedClient = Pick<Client, 'call' | 'affords'>;

export const thesisPart = (client: FeedClient, scope: ThesisScope, limit?: number): FeedPart => ({
  call: thesisCall(scope, { limit: Math.min(limit ?? THESIS_BLOCK, THESIS_BLOCK) }),
  source: thesisSource(client, scope),
  perPage: THESIS_BLOCK,
  limit,
});

export const calloutPart = (client: FeedClient, scope: CalloutScope, limit?: number): FeedPart => ({
  call: calloutCall(scope, {}),
  source: calloutSource(client, scope),
  perPage: CALLOUT_PAGE,
  limit,
});

/** Reads the posts of feeds in a range. Pages that are saved are not requested again. */
export class FeedReader {
  readonly #context: Context;
  readonly #range: RangeFlags;
  readonly #pages: SavedPages;
  /** The reads that have not ended: two subjects may be one author, or one wallet. */
  readonly #reads = new Map<string, Promise<ReadPosts>>();
  #clock: Promise<Clock> | undefined;

  private constructor(context: Context, range: RangeFlags, pages: SavedPages) {
    this.#context = context;
    this.#range = range;
    this.#pages = pages;
  }

  static async open(
    context: Context,
    range: RangeFlags,
    { noCache, maxAge }: CacheFlags,
  ): Promise<FeedReader> {
    const { settings, terminal, bill } = context;
    const age = answerAge(context, { noCache, maxAge });
    const cache = noCache ? undefined : await openAnswers(context);
    if (cache) bill.isCached = settings.folders.cache !== undefined;
    return new FeedReader(context, range, new SavedPages(cache, terminal.io.clock.now, age));
  }

  /** Sends nothing. */
  async plan(part: FeedPart): Promise<FeedPlan> {
    const { call, source, limit } = part;
    const { io, signal } = this.#context.terminal;
    const walk = { ...this.#walk(io.clock, limit), signal };
    const saved = await this.#pages.saved(call, source, walk);
    const isWhole = saved.failure === undefined;
    const { length } = saved.posts;
    // Where a range ends is known by the clock of the service, for which a run asks.
    if (this.#isTimed)
      return { call: pagesOf(part, 0, !isWhole && length === 0), posts: undefined };
    if (isWhole) return { call: notSent(call), posts: saved };
    return { call: pagesOf(part, length, true), posts: undefined };
  }

  /** The calls for a feed that only the run finds out. */
  planLater(part: FeedPart): PlannedEndpoint {
    return pagesOf(part, 0, false);
  }

  async read(part: FeedPart, signal: AbortSignal): Promise<ReadPosts> {
    const name = `${part.call.id} ${feedName(part.call)}`;
    const read = this.#reads.get(name) ?? this.#read(part, signal);
    this.#reads.set(name, read);
    try {
      return await read;
    } finally {
      this.#reads.delete(name);
    }
  }

  async #read({ call, source, limit }: FeedPart, signal: AbortSignal): Promise<ReadPosts> {
    const { io } = this.#context.terminal;
    this.#clock ??= this.#isTimed ? serviceClock(this.#context) : Promise.resolve(io.clock);
    const walk = { ...this.#walk(await this.#clock, limit), signal };
    return await this.#pages.read(call, source, walk);
  }

  get #isTimed(): boolean {
    return this.#range.since !== undefined || this.#range.until !== undefined;
  }

  #walk(clock: Clock, limit: number | undefined) {
    return { ...readRange(this.#range, clock.now(), this.#context.settings.utc), limit, clock };
  }
}

/** The pages of which `count` posts are saved. The first of them may turn out not to be needed. */
const pagesOf = (
  { call, perPage, limit }: FeedPart,
  count: number,
  isSure: boolean,
): PlannedEndpoint => ({
  ...call,
  times: limit === undefined ? null : Math.ceil((limit - count) / perPage),
  isSure,
});
