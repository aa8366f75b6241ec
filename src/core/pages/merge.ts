import { ordered } from '../lookup/ordered.ts';
import {
  type ItemsLeft,
  type ListBatch,
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
  /** Whether a post of the whole feed belongs to the list. */
  readonly isWanted: (item: T) => boolean;
  /** The most items of a page of the lowest price. */
  readonly pageRows: number;
  readonly onWay: (way: ReadingWay) => void;
  /**
   * Called with the feeds that are read from now on; returns those that are read in their place.
   */
  readonly watch: (feeds: readonly TimedFeed<T>[]) => readonly TimedFeed<T>[];
}

/**
 * From so many feeds on, a page of the whole feed is a small price for finding out which way is
 * cheaper.
 */
export const WORTH_A_LOOK = 5;
/** So many items decide about a time, because a single one may be dated wrongly. */
const PROOF = 3;
/** What stands for the cursor of a feed that was read to its end. */
const ENDED = '-';

/** The most pages of their own feeds that a list of so many items takes. */
export const mostOwnPages = (feeds: number, limit: number, pageRows: number): number =>
  feeds + Math.floor(limit / pageRows);

/**
 * Where each of several feeds begins, if a list has stated it; undefined if all begin at one place.
 */
export function cursorsIn(
  before: string | undefined,
  feeds: number,
): readonly string[] | undefined {
  const cursors = before?.split(',') ?? [];
  return cursors.length === feeds && feeds > 1 ? cursors : undefined;
}

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
  const count = feeds.own.length;
  const isSmall = count < WORTH_A_LOOK || cursorsIn(options.before, count) !== undefined;
  if (isSmall) feeds.onWay({ kind: 'own', wholePages: undefined });
  const batches = isSmall ? ownPages(feeds, options) : cheaperPages(feeds, options, left);
  // The first page of each feed may be without a match.
  const maxPages = filter.maxPages && filter.maxPages + count;
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
  const { own, pageRows, isWanted, onWay } = feeds;
  const [whole = feeds.whole] = feeds.watch([feeds.whole]);
  const limit = left.count;
  const seen = new Set<string>();
  let pages = 0;
  for await (const page of pagesInRange(whole, options, oneRow)) {
    pages++;
    const items = page.items.filter(isWanted);
    for (const item of items) seen.add(whole.idOf(item) ?? '');
    yield { items, next: page.next };
    if (page.next === undefined) continue;
    const found = Number.isFinite(limit) ? limit - left.count : 0;
    const byLimit = (left.count * pages) / Math.max(1, found);
    const wholePages = pages + Math.ceil(Math.min(page.expected / pageRows, byLimit));
    const kind = wholePages <= own.length ? 'whole' : 'own';
    if (pages === 1 || kind === 'own') onWay({ kind, wholePages });
    if (kind === 'whole') continue;
    yield* ownPages(feeds, options, { seen, next: page.next });
    return;
  }
}

/**
 * Asks for the smallest pages: of a larger one, the list might not need all items, because other
 * feeds have newer ones.
 */
const oneRow = () => 1;

/** What was read of the whole feed: the ids of its items, and where it continues. */
interface ReadBefore {
  readonly seen: ReadonlySet<string>;
  readonly next: string;
}

/**
 * The pages of the own feeds. An item is in a batch as soon as no page that is not read yet can
 * have a newer one.
 */
async function* ownPages<T>(
  { own, watch }: MergedFeeds<T>,
  options: WalkOptions,
  read?: ReadBefore,
): AsyncGenerator<ListBatch<T>, void, void> {
  const { before } = options;
  const cursors = cursorsIn(before, own.length);
  const lanes = watch(own).map((feed, at) => {
    const start = cursors ? cursors[at] : before;
    const pages = pagesInRange(feed, { ...options, before: start || undefined }, oneRow);
    return new Lane(
      feed,
      start === ENDED ? undefined : pages,
      read?.next ?? start ?? '',
      read?.seen,
    );
  });
  const batch = (bound: number): ListBatch<T> => ({
    items: newestFirst(lanes, bound),
    next: lanes.some(({ isRead }) => isRead)
      ? lanes.map(({ cursor }) => cursor).join(',')
      : undefined,
    rest: () => newestFirst(lanes, Number.NEGATIVE_INFINITY),
  });
  try {
    const fill = (lane: Lane<T>) => lane.fill();
    for await (const _ of ordered(lanes, fill, { signal: options.signal }))
      yield batch(Number.POSITIVE_INFINITY);
    for (;;) {
      const bound = Math.max(...lanes.map((lane) => lane.bound));
      yield batch(bound);
      const lane = lanes.find((each) => each.bound === bound);
      if (lane === undefined || bound === Number.NEGATIVE_INFINITY) return;
      await lane.fill();
    }
  } catch (error) {
    // What was read was paid for, and the cursors of the last batch are behind it.
    const items = newestFirst(lanes, Number.NEGATIVE_INFINITY);
    yield { items, next: undefined, failure: { error } };
  }
}

/** Takes the items after this time out of the lanes. */
const newestFirst = <T>(lanes: readonly Lane<T>[], bound: number): readonly T[] =>
  lanes
    .flatMap((lane) => lane.takeAfter(bound))
    .sort((one, other) => other.place - one.place)
    .map(({ item }) => item);

interface Placed<T> {
  readonly item: T;
  /** The time by which the item is merged: its own may be missing or wrong. */
  readonly place: number;
}

/** One of the feeds that are merged. */
class Lane<T> {
  /** No item that is not read yet is newer. */
  bound: number;
  cursor: string;
  isRead = false;
  #items: Placed<T>[] = [];
  readonly #feed: TimedFeed<T>;
  readonly #pages: AsyncGenerator<PageBatch<T>, void, void> | undefined;
  readonly #seen: ReadonlySet<string> | undefined;

  /** A feed without pages was read to its end before. */
  constructor(
    feed: TimedFeed<T>,
    pages: AsyncGenerator<PageBatch<T>, void, void> | undefined,
    cursor: string,
    seen: ReadonlySet<string> | undefined,
  ) {
    this.#feed = feed;
    this.#pages = pages;
    this.#seen = seen;
    this.cursor = cursor;
    this.bound = Number.POSITIVE_INFINITY;
  }

  /** Reads the next page. */
  async fill(): Promise<void> {
    const step = await this.#pages?.next();
    this.isRead = step !== undefined;
    if (!step || step.done) {
      this.bound = Number.NEGATIVE_INFINITY;
      this.cursor = ENDED;
      return;
    }
    const { items, times, timeOf, next, isLast } = step.value;
    const isNew = (item: T) => !this.#seen?.has(this.#feed.idOf(item) ?? '');
    const fresh = items.filter(isNew).map((item) => ({ item, place: timeOf(item) }));
    this.#items = placed([...this.#items, ...fresh]);
    const last = times.filter((time) => time !== null).slice(-PROOF);
    if (last.length > 0) this.bound = Math.min(this.bound, Math.max(...last));
    this.cursor = isLast ? ENDED : (next ?? this.cursor);
  }

  takeAfter(bound: number): Placed<T>[] {
    const end = this.#items.findIndex(({ place }) => place <= bound);
    const isAll = end === -1 || bound === Number.NEGATIVE_INFINITY;
    return this.#items.splice(0, isAll ? this.#items.length : end);
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
