import type { Sent } from '../../contract/read-record.ts';
import { ordered } from '../lookup/ordered.ts';
import { boundOf, Lane, placed, takeAfter } from './lane.ts';
import { type FeedPlace, placesText, type SeveralStart } from './place.ts';
import type { PageRow } from './post.ts';
import { PROOF } from './proof.ts';
import { oneRow } from './read-pages.ts';
import type { PageSource } from './source.ts';
import {
  type ListBatch,
  lastIdOf,
  matching,
  type PageBatch,
  pagesInRange,
  type RowsLeft,
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
export interface MergedFeeds {
  readonly own: readonly PageSource[];
  /** The feed that has the posts of all of them, and others. */
  readonly whole: PageSource;
  /** Which of the own feeds has a row of the whole feed; undefined if none has. */
  readonly feedOf: (post: Sent) => number | undefined;
  readonly start: SeveralStart;
  /** The most rows of a page of the lowest price. */
  readonly pageRows: number;
  readonly onWay: (way: ReadingWay) => void;
  /**
   * Called with the feeds that are read from now on; returns those that are read in their place.
   */
  readonly watch: (feeds: readonly PageSource[]) => readonly PageSource[];
}

/**
 * The most pages of their own feeds that a list of so many rows takes. The last rows of a page are
 * taken with the next one, because newer ones may follow them.
 */
export const mostOwnPages = (feeds: number, limit: number, pageRows: number): number =>
  feeds + Math.floor((limit + PROOF) / pageRows);

/**
 * Yields the rows of several feeds that match like those of one: newest first, each once, the
 * cheaper way.
 */
export async function* walkSeveral(
  feeds: MergedFeeds,
  options: WalkOptions,
  filter: Partial<WalkFilter>,
): AsyncGenerator<PageRow, void, void> {
  const left: RowsLeft = { count: options.limit ?? Number.POSITIVE_INFINITY };
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
async function* cheaperPages(
  feeds: MergedFeeds,
  options: WalkOptions,
  left: RowsLeft,
): AsyncGenerator<ListBatch, void, void> {
  const { own, pageRows, feedOf, onWay, start } = feeds;
  const [whole = feeds.whole] = feeds.watch([feeds.whole]);
  const limit = left.count;
  const read = new WholeRead(start, feedOf);
  let pages = 0;
  for await (const page of pagesInRange(whole, { ...options, before: start.whole }, oneRow)) {
    pages++;
    const rows = page.rows.filter(({ record }) => feedOf(record) !== undefined);
    yield {
      rows,
      placeAfter: (count) =>
        count === rows.length ? read.placeBelow(rows, page.next) : read.placeAfter(rows, count),
      untimed: page.untimed,
    };
    if (page.next === undefined) continue;
    read.take(rows, page.next);
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
class WholeRead {
  /** The ids of the rows. */
  readonly seen = new Set<string>();
  /** The places of the own feeds below the rows; undefined if they are not known. */
  own: readonly FeedPlace[] | undefined;
  #cursor: string | undefined;
  readonly #feedOf: MergedFeeds['feedOf'];

  constructor({ whole, own }: SeveralStart, feedOf: MergedFeeds['feedOf']) {
    this.#cursor = whole;
    this.own = own;
    this.#feedOf = feedOf;
  }

  take(rows: readonly PageRow[], next: string): void {
    for (const row of rows) this.seen.add(row.id ?? '');
    this.own = this.#ownBelow(rows);
    this.#cursor = next;
  }

  /** The place below the first so many rows of a page. */
  placeAfter(rows: readonly PageRow[], count: number): string | undefined {
    const taken = rows.slice(0, count);
    return this.placeBelow(taken, lastIdOf(taken) ?? this.#cursor);
  }

  /** The place below rows that `cursor` is behind; undefined if nothing follows. */
  placeBelow(rows: readonly PageRow[], cursor: string | undefined): string | undefined {
    const own = this.#ownBelow(rows);
    return cursor === undefined || own === undefined ? cursor : placesText(cursor, own);
  }

  #ownBelow(rows: readonly PageRow[]): readonly FeedPlace[] | undefined {
    const last = new Map(rows.map(({ id, record }) => [this.#feedOf(record), id]));
    return this.own?.map((place, at) => {
      const after = last.get(at);
      return after ? { after } : place;
    });
  }
}

/**
 * The pages of the own feeds. A row is in a batch as soon as no page that is not read yet can
 * have a newer one.
 */
async function* ownPages(
  { own, watch, start }: MergedFeeds,
  options: WalkOptions,
  read?: WholeRead,
): AsyncGenerator<ListBatch, void, void> {
  const lanes = watch(own).map((feed, at) => {
    const place = start.own?.[at] ?? {};
    const upTo = start.isNew ? undefined : place.upTo;
    return new ListLane(
      place.isEnded ? undefined : pagesInRange(feed, { ...options, before: place.after }, oneRow),
      { upTo, seen: read?.seen, place: read?.own?.[at] ?? place },
    );
  });
  const batch = (bound: number): ListBatch => {
    const rows = takeAfter(lanes, bound);
    const isRead = read !== undefined || lanes.some((lane) => lane.isRead);
    return {
      rows: rows.map(({ row }) => row),
      placeAfter: (count) => (isRead ? ownPlace(lanes, rows, count) : undefined),
      rest: () => batch(Number.NEGATIVE_INFINITY),
      // A time in one feed shows that the service states times.
      untimed: lanes.some(({ isTimed }) => isTimed)
        ? undefined
        : lanes.find(({ untimed }) => untimed)?.untimed,
    };
  };
  try {
    const fill = (lane: ListLane) => lane.fill();
    for await (const _ of ordered(lanes, fill, { signal: options.signal }))
      yield batch(Number.POSITIVE_INFINITY);
    for (;;) {
      const bound = boundOf(lanes);
      yield batch(bound);
      const lane = lanes.find((each) => each.bound === bound);
      if (lane === undefined || lane.isEnded) return;
      await lane.fill();
    }
  } catch (error) {
    // What was read was paid for.
    yield { ...batch(Number.NEGATIVE_INFINITY), failure: { error } };
  }
}

/** The place below the first so many of these rows; undefined if nothing follows. */
function ownPlace(
  lanes: readonly ListLane[],
  rows: readonly MergedRow[],
  count: number,
): string | undefined {
  const last = new Map(rows.slice(0, count).map(({ lane, row }) => [lane, row]));
  const cut = new Set(rows.slice(count).map(({ lane }) => lane));
  const places = lanes.map((lane) => lane.placeBelow(last.get(lane), cut.has(lane)));
  return places.every(({ isEnded }) => isEnded) ? undefined : placesText(undefined, places);
}

interface MergedRow {
  readonly row: PageRow;
  readonly lane: ListLane;
}

/** What a feed leaves out, and where it is before its first page. */
interface MergeStart {
  /** Rows after this time appeared when the list had begun. */
  readonly upTo: number | undefined;
  /** The ids of the rows that the list took of the whole feed. */
  readonly seen: ReadonlySet<string> | undefined;
  readonly place: FeedPlace;
}

/** One of the feeds that are merged, with the place from which another list would continue. */
class ListLane extends Lane {
  isRead = false;
  /** Whether a post had a time. */
  isTimed = false;
  /** The failure of a list that ends with this feed, whose posts have no times. */
  untimed: ListBatch['untimed'];
  /** The place below the last page. */
  #below: FeedPlace;
  /** The place below the rows of all batches but the last, and below those of the last one. */
  #taken: FeedPlace;
  #taking: FeedPlace;
  readonly #pages: AsyncGenerator<PageBatch, void, void> | undefined;
  readonly #start: MergeStart;

  /** A feed without pages was read to its end before. */
  constructor(pages: AsyncGenerator<PageBatch, void, void> | undefined, start: MergeStart) {
    super();
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
      this.end();
      this.#below = { isEnded: true };
      return;
    }
    const { rows, times, next, isLast } = step.value;
    this.isTimed ||= times.some((time) => time !== null);
    this.untimed = step.value.untimed;
    const { upTo = Number.POSITIVE_INFINITY, seen } = this.#start;
    const wanted = placed(rows).filter(
      ({ row, place }) => !seen?.has(row.id ?? '') && (row.at ?? place) <= upTo,
    );
    this.add(wanted, times);
    if (isLast) this.#below = { isEnded: true };
    // Within what was taken of the whole feed, the place stays below all of it.
    else if (next !== undefined && !seen?.has(next)) this.#below = { after: next };
  }

  override takeAfter(bound: number) {
    const taken = super.takeAfter(bound);
    this.#taken = this.#taking;
    this.#taking = this.#placeAt(taken.at(-1)?.row);
    return taken;
  }

  /** The place below this row of the last batch, if the list took one and others remain. */
  placeBelow(last: PageRow | undefined, isCut: boolean): FeedPlace {
    return isCut || !this.isEmpty ? this.#placeAt(last) : this.#below;
  }

  #placeAt(row: PageRow | undefined): FeedPlace {
    const after = row?.id ?? undefined;
    return after === undefined ? this.#taken : { after };
  }
}
