import { ordered } from '../lookup/ordered.ts';
import { type FeedPlace, placesText, type SeveralStart } from './place.ts';
import { boundBelow } from './proof.ts';
import {
  type ItemsLeft,
  type ListBatch,
  lastIdOf,
  matching,
  type PageBatch,
  pagesInRange,
  type TimedFeed,
  type WalkFilter,
  type WalkOptions,
} from './walk.ts';

/**
 * How a list of several authors, tokens or wallets is read: their own feeds have at least one page
 * each.
 */
export interface ReadingWay {
  readonly kind: 'whole' | 'own';
  /** The pages of the whole feed that are expected, those that were read included. */
  readonly wholePages: number | undefined;
}

/** The feeds of which a list consists. */
export interface MergedFeeds<T> {
  readonly own: readonly TimedFeed<T>[];
  /** The feed that has the posts of all of them, and others. */
  readonly whole: TimedFeed<T>;
  /** Which of the own feeds has an item of the whole feed; undefined if none has. */
  readonly feedOf: (item: T) => number | undefined;
  readonly start: SeveralStart;
  /** The most items of a page of the lowest price. */
  readonly pageRows: number;
  readonly onWay: (way: ReadingWay) => void;
  /**
   * Called with the feeds that are read from now on; returns those that are read in their place.
   */
  readonly watch: (feeds: readonly TimedFeed<T>[]) => readonly TimedFeed<T>[];
}

/** The most pages of their own feeds that a list of so many items takes. */
export const mostOwnPages = (feeds: number, limit: number, pageRows: number): number =>
  feeds + Math.floor(limit / pageRows);

/**
 * Yields the items of several feeds that match like those of one: newest first, each once, the
 * cheaper way.
 */
export async function* walkSeveral<T>(
  feeds: MergedFeeds<T>,
  options: WalkOptions,
  filter: Partial<WalkFilter<T>> = {},
): AsyncGenerator<T, void, void> {
  const left: ItemsLeft = { count: options.limit ?? Number.POSITIVE_INFINITY };
  const isOwn = feeds.start.way === 'own';
  if (isOwn) feeds.onWay({ kind: 'own', wholePages: undefined });
  const batches = isOwn ? ownPages(feeds, options) : cheaperPages(feeds, options, left);
  // The first page of each feed may be without a match.
  const maxPages = filter.maxPages && filter.maxPages + feeds.own.length;
  yield* matching(batches, left, { ...filter, maxPages });
}

/**
 * Reads the whole feed for as long as this is expected to cost less than the own feeds, and then
 * those.
 */
async function* cheaperPages<T>(
  feeds: MergedFeeds<T>,
  options: WalkOptions,
  left: ItemsLeft,
): AsyncGenerator<ListBatch<T>, void, void> {
  const { own, pageRows, feedOf, onWay, start } = feeds;
  const [whole = feeds.whole] = feeds.watch([feeds.whole]);
  const limit = left.count;
  const read = new WholeRead(start, feedOf, whole.idOf);
  let pages = 0;
  for await (const page of pagesInRange(whole, { ...options, before: start.whole }, oneRow)) {
    pages++;
    const items = page.items.filter((item) => feedOf(item) !== undefined);
    yield {
      items,
      placeAfter: (count) =>
        count === items.length ? read.placeBelow(items, page.next) : read.placeAfter(items, count),
    };
    if (page.next === undefined) continue;
    read.take(items, page.next);
    const found = Number.isFinite(limit) ? limit - left.count : 0;
    const byLimit = (left.count * pages) / Math.max(1, found);
    const wholePages = pages + Math.ceil(Math.min(page.expected / pageRows, byLimit));
    const isWhole = start.way === 'whole' || wholePages <= own.length;
    if (pages === 1 || !isWhole) onWay({ kind: isWhole ? 'whole' : 'own', wholePages });
    if (isWhole) continue;
    yield* ownPages(feeds, options, read);
    return;
  }
}

/** What was read of the whole feed, and where another list would continue. */
class WholeRead<T> {
  /** The ids of the items. */
  readonly seen = new Set<string>();
  /** The places of the own feeds below the items; undefined if they are not known. */
  own: readonly FeedPlace[] | undefined;
  #cursor: string | undefined;
  readonly #feedOf: (item: T) => number | undefined;
  readonly #idOf: (item: T) => string | undefined;

  constructor(
    { whole, own }: SeveralStart,
    feedOf: (item: T) => number | undefined,
    idOf: (item: T) => string | undefined,
  ) {
    this.#cursor = whole;
    this.own = own;
    this.#feedOf = feedOf;
    this.#idOf = idOf;
  }

  take(items: readonly T[], next: string): void {
    for (const item of items) this.seen.add(this.#idOf(item) ?? '');
    this.own = this.#ownBelow(items);
    this.#cursor = next;
  }

  /** The place below the first so many items of a page. */
  placeAfter(items: readonly T[], count: number): string | undefined {
    const taken = items.slice(0, count);
    return this.placeBelow(taken, lastIdOf(taken, this.#idOf) ?? this.#cursor);
  }

  /** The place below items that `cursor` is behind; undefined if nothing follows. */
  placeBelow(items: readonly T[], cursor: string | undefined): string | undefined {
    const own = this.#ownBelow(items);
    return cursor === undefined || own === undefined ? cursor : placesText(cursor, own);
  }

  #ownBelow(items: readonly T[]): readonly FeedPlace[] | undefined {
    const last = new Map(items.map((item) => [this.#feedOf(item), this.#idOf(item)]));
    return this.own?.map((place, at) => {
      const after = last.get(at);
      return after === undefined ? place : { after };
    });
  }
}

/**
 * Asks for the smallest pages: of a larger one, the list might not need all items, because other
 * feeds have newer ones.
 */
const oneRow = () => 1;

/**
 * The pages of the own feeds. An item is in a batch as soon as no page that is not read yet can
 * have a newer one.
 */
async function* ownPages<T>(
  { own, watch, start }: MergedFeeds<T>,
  options: WalkOptions,
  read?: WholeRead<T>,
): AsyncGenerator<ListBatch<T>, void, void> {
  const merged = watch(own).map((feed, at) => {
    const place = start.own?.[at] ?? {};
    const upTo = start.isNew ? undefined : place.upTo;
    return new FeedInMerge(
      feed,
      place.isEnded ? undefined : pagesInRange(feed, { ...options, before: place.after }, oneRow),
      { upTo, seen: read?.seen, place: read?.own?.[at] ?? place },
    );
  });
  const batch = (bound: number): ListBatch<T> => {
    const items = newestFirst(merged, bound);
    const isRead = read !== undefined || merged.some((feed) => feed.isRead);
    return {
      items: items.map(({ item }) => item),
      placeAfter: (count) => (isRead ? ownPlace(merged, items, count) : undefined),
      rest: () => batch(Number.NEGATIVE_INFINITY),
    };
  };
  try {
    const fill = (feed: FeedInMerge<T>) => feed.fill();
    for await (const _ of ordered(merged, fill, { signal: options.signal }))
      yield batch(Number.POSITIVE_INFINITY);
    for (;;) {
      const bound = Math.max(...merged.map((feed) => feed.bound));
      yield batch(bound);
      const feed = merged.find((each) => each.bound === bound);
      if (feed === undefined || bound === Number.NEGATIVE_INFINITY) return;
      await feed.fill();
    }
  } catch (error) {
    // What was read was paid for.
    yield { ...batch(Number.NEGATIVE_INFINITY), failure: { error } };
  }
}

/** The place below the first so many of these items; undefined if nothing follows. */
function ownPlace<T>(
  merged: readonly FeedInMerge<T>[],
  items: readonly MergedItem<T>[],
  count: number,
): string | undefined {
  const last = new Map(items.slice(0, count).map(({ feed, item }) => [feed, item]));
  const cut = new Set(items.slice(count).map(({ feed }) => feed));
  const places = merged.map((feed) => feed.placeBelow(last.get(feed), cut.has(feed)));
  return places.every(({ isEnded }) => isEnded) ? undefined : placesText(undefined, places);
}

/** Takes the items after this time out of the feeds. */
const newestFirst = <T>(
  merged: readonly FeedInMerge<T>[],
  bound: number,
): readonly MergedItem<T>[] =>
  merged
    .flatMap((feed) => feed.takeAfter(bound).map((placed) => ({ ...placed, feed })))
    .sort((one, other) => other.place - one.place);

interface Placed<T> {
  readonly item: T;
  /** The time by which the item is merged: its own may be missing or wrong. */
  readonly place: number;
}

interface MergedItem<T> extends Placed<T> {
  readonly feed: FeedInMerge<T>;
}

/** What a feed leaves out, and where it is before its first page. */
interface MergeStart {
  /** Items after this time appeared when the list had begun. */
  readonly upTo: number | undefined;
  /** The ids of the items that the list took of the whole feed. */
  readonly seen: ReadonlySet<string> | undefined;
  readonly place: FeedPlace;
}

/** One of the feeds that are merged. */
class FeedInMerge<T> {
  /** No item that is not read yet is newer. */
  bound = Number.POSITIVE_INFINITY;
  isRead = false;
  #items: Placed<T>[] = [];
  /** The place below the last page. */
  #below: FeedPlace;
  /** The place below the items of all batches but the last, and below those of the last one. */
  #taken: FeedPlace;
  #taking: FeedPlace;
  readonly #feed: TimedFeed<T>;
  readonly #pages: AsyncGenerator<PageBatch<T>, void, void> | undefined;
  readonly #start: MergeStart;

  /** A feed without pages was read to its end before. */
  constructor(
    feed: TimedFeed<T>,
    pages: AsyncGenerator<PageBatch<T>, void, void> | undefined,
    start: MergeStart,
  ) {
    this.#feed = feed;
    this.#pages = pages;
    this.#start = start;
    this.#below = start.place;
    this.#taken = start.place;
    this.#taking = start.place;
  }

  /** Reads the next page. */
  async fill(): Promise<void> {
    const step = await this.#pages?.next();
    this.isRead ||= step !== undefined;
    if (!step || step.done) {
      this.bound = Number.NEGATIVE_INFINITY;
      this.#below = { isEnded: true };
      return;
    }
    const { items, times, timeOf, next, isLast } = step.value;
    const { upTo = Number.POSITIVE_INFINITY, seen } = this.#start;
    const fresh = placed(items.map((item) => ({ item, place: timeOf(item) }))).filter(
      ({ item, place }) =>
        !seen?.has(this.#feed.idOf(item) ?? '') && (timeOf(item) ?? place) <= upTo,
    );
    this.#items = placed([...this.#items, ...fresh]);
    this.bound = Math.min(this.bound, boundBelow(times) ?? this.bound);
    if (isLast) this.#below = { isEnded: true };
    // Within what was taken of the whole feed, the place stays below all of it.
    else if (next !== undefined && !seen?.has(next)) this.#below = { after: next };
  }

  takeAfter(bound: number): Placed<T>[] {
    const end = this.#items.findIndex(({ place }) => place <= bound);
    const isAll = end === -1 || bound === Number.NEGATIVE_INFINITY;
    const items = this.#items.splice(0, isAll ? this.#items.length : end);
    this.#taken = this.#taking;
    this.#taking = this.#placeAt(items.at(-1)?.item);
    return items;
  }

  /** The place below this item of the last batch, if the list took one and others remain. */
  placeBelow(last: T | undefined, isCut: boolean): FeedPlace {
    return isCut || this.#items.length > 0 ? this.#placeAt(last) : this.#below;
  }

  #placeAt(item: T | undefined): FeedPlace {
    const after = item === undefined ? undefined : this.#feed.idOf(item);
    return after === undefined ? this.#taken : { after };
  }
}

/** Items whose time is missing, or older than that of items below them, get the place of those. */
function placed<T>(
  items: readonly { readonly item: T; readonly place: number | null }[],
): Placed<T>[] {
  let newest = Number.NEGATIVE_INFINITY;
  return items
    .toReversed()
    .map(({ item, place }) => {
      newest = Math.max(newest, place ?? newest);
      return { item, place: newest };
    })
    .reverse();
}
