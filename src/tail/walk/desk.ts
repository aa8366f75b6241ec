import { ordered } from '../../core/lookup/ordered.ts';
import { boundOf, Lane, placed, takeAfter } from '../../core/pages/lane.ts';
import { withoutFutureTimes } from '../../core/pages/post.ts';
import { Boundary, boundBelow } from '../../core/pages/proof.ts';
import { type PageRead, type Reading, readPages } from '../../core/pages/read-pages.ts';
import type { AskedPage, PageSource } from '../../core/pages/source.ts';
import { hasId } from '../post-row.ts';
import { isBottom, type WalkedPage, type WalkSource } from './walk.ts';

/** One of the feeds of a desk, and what its walks have learned. */
interface DeskFeed {
  readonly source: WalkSource;
  /** Whether any walk has seen a post of the feed, and whether one has found that it has none. */
  hasPosts: boolean;
  wasEmpty: boolean;
}

/** The feeds of several authors, of which a tail wants only the posts. */
export class Desk {
  readonly #whole: WalkSource;
  readonly #feeds: readonly DeskFeed[];
  readonly #mostPages: number;

  /** If the whole feed would take more than `mostPages` pages, the own feeds are read. */
  constructor(whole: WalkSource, own: readonly WalkSource[], mostPages: number) {
    this.#whole = whole;
    this.#feeds = own.map((source) => ({ source, hasPosts: false, wasEmpty: false }));
    this.#mostPages = mostPages;
  }

  /** The pages of a walk that needs no posts up to the time `verified`. */
  pages(verified: number | null, reading: Reading): WalkSource {
    return new DeskPages(this.#whole, this.#feeds, this.#mostPages, { verified, reading });
  }
}

interface DeskWalk {
  readonly verified: number | null;
  readonly reading: Reading;
}

/**
 * The pages of one walk. It begins with the newest page of the whole feed, by which the clock of
 * the feed is known before anything else is read. Where the rest of the walk would take more pages
 * of that feed than the authors have feeds, it continues with their own, merged by time.
 */
class DeskPages implements WalkSource {
  readonly sizes: PageSource['sizes'];
  readonly #whole: WalkSource;
  readonly #lanes: readonly DeskLane[];
  readonly #mostPages: number;
  readonly #walk: DeskWalk;
  #way: 'whole' | 'own' = 'whole';
  /** The ids of the posts that the walk has read of the whole feed. */
  readonly #seen = new Set<string>();
  /**
   * Posts after this time that are not in those pages have appeared since, and are left to the next
   * walk.
   */
  #readTo = Number.POSITIVE_INFINITY;

  constructor(whole: WalkSource, feeds: readonly DeskFeed[], mostPages: number, walk: DeskWalk) {
    this.sizes = whole.sizes;
    this.#whole = whole;
    this.#lanes = feeds.map((feed) => new DeskLane(feed, walk));
    this.#mostPages = mostPages;
    this.#walk = walk;
  }

  async page(ask: AskedPage, signal: AbortSignal): Promise<WalkedPage> {
    const { verified, reading } = this.#walk;
    const pages = verified === null ? 0 : ask.expected / this.sizes.step;
    if (pages > this.#mostPages) this.#way = 'own';
    if (this.#way === 'own') return await this.#merged(signal);
    const page = await this.#whole.page(ask, signal);
    for (const { id } of page.rows) this.#seen.add(id);
    const times = withoutFutureTimes(page.rows, reading.clock.now(), true).map(({ at }) => at);
    this.#readTo = boundBelow(times) ?? this.#readTo;
    return page;
  }

  /** The next rows of which it is certain that no page that is not read yet has a newer one. */
  async #merged(signal: AbortSignal): Promise<WalkedPage> {
    for (;;) {
      const bound = boundOf(this.#lanes);
      const rows = takeAfter(this.#lanes, bound)
        .map(({ row }) => row)
        .filter(hasId)
        .filter(({ id, at }) => !this.#seen.has(id) && (at === null || at <= this.#readTo));
      const isProven = this.#lanes.every(({ isEnded }) => isEnded);
      if (rows.length > 0 || isProven)
        return { rows, hasMore: !isProven, nextBefore: null, isProven };
      // Those that have reported their end are asked together: each of them needs several answers.
      const due = this.#lanes.filter(
        (lane) => !lane.isEnded && (lane.bound === bound || lane.isEnding),
      );
      for await (const _ of ordered(due, (lane) => lane.fill(), { signal }));
    }
  }
}

/** One of the feeds that are merged, as far as a walk has read it. */
class DeskLane extends Lane {
  /** Whether the feed has reported its end, which is not believed yet. */
  isEnding = false;
  readonly #feed: DeskFeed;
  readonly #verified: number;
  /** Where the rows are verified. */
  readonly #end = new Boundary();
  readonly #pages: AsyncGenerator<PageRead, void, void>;

  constructor(feed: DeskFeed, { verified, reading }: DeskWalk) {
    super();
    this.#feed = feed;
    this.#verified = verified ?? Number.NEGATIVE_INFINITY;
    this.#pages = readPages(feed.source, reading);
  }

  /** Reads the next page. */
  async fill(): Promise<void> {
    const step = await this.#pages.next();
    if (step.done) return this.end();
    const { page, fresh } = step.value;
    const times = fresh.map(({ at }) => at);
    this.add(placed(fresh), times);
    for (const at of times) if (at !== null) this.#end.take(at <= this.#verified);
    this.isEnding = !page.hasMore;
    this.#feed.hasPosts ||= fresh.length > 0;
    const isUnseen = this.#feed.wasEmpty && !this.#feed.hasPosts;
    if (!this.#end.isReached && !isBottom(step.value, this.#end.run > 0, isUnseen)) return;
    this.#feed.wasEmpty ||= !this.#feed.hasPosts;
    this.end();
  }
}
