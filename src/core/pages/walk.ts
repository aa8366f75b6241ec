import { Failure } from '../../base/failure.ts';
import { THESIS_BLOCK, THESIS_LIMIT_MAX } from '../../contract/limits.ts';
import { createPageSizer, rowsDownTo } from './page-size.ts';
import { usableTime } from './post.ts';
import { Boundary } from './proof.ts';
import { type PageFeed, type Reading, readPages } from './read-pages.ts';

export interface TimedFeed<T> extends PageFeed<T> {
  /** Epoch ms; null if not known. */
  readonly timeOf: (item: T) => number | null;
  /**
   * Whether the run can pay for a page of so many rows. Absent if the page size cannot be chosen.
   */
  readonly affords?: ((rows: number) => boolean) | undefined;
}

export interface WalkOptions extends Reading {
  readonly limit?: number | undefined;
  /** Epoch ms, inclusive. */
  readonly since?: number | undefined;
  /** Epoch ms, exclusive. */
  readonly until?: number | undefined;
}

/** Which items a walk yields, and when it gives up. */
export interface WalkFilter<T> {
  readonly matches: (item: T) => boolean;
  /** Called after each page with what was taken of it. */
  readonly onPage?: ((taken: Taken) => void) | undefined;
  /** The walk gives up after so many consecutive pages without a matching item. */
  readonly maxPages?: number | undefined;
  readonly onGiveUp?: ((pages: number) => void) | undefined;
}

/** How far a list has come. */
export interface Taken {
  /** The place from which another list would continue; undefined if nothing follows. */
  readonly next: string | undefined;
  /** Whether the items that were taken may lack newer ones, because the reading stopped. */
  readonly isUnsure: boolean;
}

const thesisSizes = { step: THESIS_BLOCK, max: THESIS_LIMIT_MAX };

/**
 * After so many pages without a readable time, a walk with `since` fails: it could continue without
 * end.
 */
const UNTIMED_PAGES = 3;

/** What one page adds to a list. */
export interface ListBatch<T> {
  /** The items of the time range. */
  readonly items: readonly T[];
  /** The place below the first so many of the items; undefined if nothing follows there. */
  readonly placeAfter: (count: number) => string | undefined;
  /** Takes the items that were read but are not in a batch yet, because newer ones may follow. */
  readonly rest?: (() => ListBatch<T>) | undefined;
  /**
   * What ended the reading. The items are then the last ones, and newer ones may be missing among
   * them.
   */
  readonly failure?: { readonly error: unknown } | undefined;
}

/** A batch of the pages of one feed. */
export interface PageBatch<T> extends ListBatch<T> {
  /** Where the next page begins; undefined after the last one. */
  readonly next: string | undefined;
  /** Whether nothing of the range follows. */
  readonly isLast: boolean;
  /** The post times of the whole page; null for those that cannot be read. */
  readonly times: readonly (number | null)[];
  readonly timeOf: (item: T) => number | null;
  /** How many more items there are down to `since`, if posts are as frequent as on this page. */
  readonly expected: number;
}

/** How many more items a list takes. */
export interface ItemsLeft {
  count: number;
}

/**
 * Reads a feed from new to old and yields the items of a time range that match. Requests a page
 * only when the caller has consumed the one before.
 */
export async function* walkPages<T>(
  feed: TimedFeed<T>,
  options: WalkOptions,
  filter: Partial<WalkFilter<T>> = {},
): AsyncGenerator<T, void, void> {
  const left: ItemsLeft = { count: options.limit ?? Number.POSITIVE_INFINITY };
  yield* matching(
    pagesInRange(feed, options, () => left.count),
    left,
    filter,
  );
}

/** The items of the batches that match, until none is left to take or too many pages have none. */
export async function* matching<T>(
  batches: AsyncIterable<ListBatch<T>>,
  left: ItemsLeft,
  filter: Partial<WalkFilter<T>>,
): AsyncGenerator<T, void, void> {
  const { maxPages = Number.POSITIVE_INFINITY, onGiveUp, onPage } = filter;
  /** Consecutive pages without a matching item. */
  let unmatched = 0;
  for await (const batch of batches) {
    const { next, isMatched } = yield* takeFrom(batch, left, filter.matches);
    const { failure, rest } = batch;
    onPage?.({ next, isUnsure: failure !== undefined });
    // A limit that is reached does not make a list complete whose reading failed.
    if (failure !== undefined) throw failure.error;
    if (left.count === 0) return;
    unmatched = isMatched ? 0 : unmatched + 1;
    if (next === undefined || unmatched < maxPages) continue;
    if (rest !== undefined)
      onPage?.({ ...(yield* takeFrom(rest(), left, filter.matches)), isUnsure: true });
    return onGiveUp?.(unmatched);
  }
}

/** The items of a batch that match, as many as are left to take; returns the place below them. */
function* takeFrom<T>(
  { items, placeAfter }: ListBatch<T>,
  left: ItemsLeft,
  matches: (item: T) => boolean = () => true,
): Generator<T, { next: string | undefined; isMatched: boolean }, void> {
  let count = 0;
  let isMatched = false;
  for (const item of items) {
    count++;
    if (!matches(item)) continue;
    isMatched = true;
    yield item;
    if (--left.count === 0) break;
  }
  return { next: placeAfter(count), isMatched };
}

/**
 * The items of a feed in a time range, page by page, as far as the caller reads. `rows` are those
 * that it still needs.
 */
export async function* pagesInRange<T>(
  feed: TimedFeed<T>,
  options: WalkOptions,
  rows: () => number,
): AsyncGenerator<PageBatch<T>, void, void> {
  const range = new TimeRange(feed.timeOf, options);
  const sizer = feed.affords && createPageSizer(thesisSizes, feed.affords);
  const size = (isRepeated: boolean) =>
    sizer?.next(isRepeated ? 1 : Math.min(rows(), range.expected));
  for await (const { page, fresh, next } of readPages(feed, options, size)) {
    sizer?.saw(page.items.length, page.hasMore);
    range.see(page.items);
    const items = fresh.flatMap((candidate) => range.take(candidate));
    const following = range.isOver ? undefined : next;
    yield {
      items,
      next: following,
      placeAfter: (count) =>
        count < items.length ? lastIdOf(items.slice(0, count), feed.idOf) : following,
      isLast: range.isOver || !page.hasMore,
      times: page.items.map(range.timeOf),
      timeOf: range.timeOf,
      expected: range.expected,
    };
    if (range.isOver) return;
    range.checkTimes();
  }
}

/** The id of the last item that has one. */
export const lastIdOf = <T>(items: readonly T[], idOf: PageFeed<T>['idOf']): string | undefined =>
  items.map(idOf).findLast((id) => id !== undefined);

/**
 * The items of a feed from `since` on and before `until`. Times may be missing or wrong: an item
 * without one belongs to its neighbors, and a single older item does not end the range.
 */
class TimeRange<T> {
  readonly #timeOf: (item: T) => number | null;
  readonly #since: number;
  readonly #until: number;
  readonly #clock: WalkOptions['clock'];
  /** How many more items there are until `since`, if posts are as frequent as on the last page. */
  expected = Number.POSITIVE_INFINITY;
  /** Where the items are older than `since`. */
  readonly #end = new Boundary();
  /**
   * Items without a time below an older one. If a newer item follows, the time of the older one was
   * wrong.
   */
  #held: T[] = [];
  /** From then on, items without a time count as older than `until`; before, they are skipped. */
  #isBelowUntil: boolean;
  /** Consecutive pages without a time. */
  #untimed = 0;

  constructor(timeOf: (item: T) => number | null, { since, until, clock }: WalkOptions) {
    this.#timeOf = timeOf;
    this.#since = since ?? Number.NEGATIVE_INFINITY;
    this.#until = until ?? Number.POSITIVE_INFINITY;
    this.#clock = clock;
    this.#isBelowUntil = until === undefined;
  }

  /** Whether the range ends here: several items in a row are older than `since`. */
  get isOver(): boolean {
    return this.#end.isReached;
  }

  /** Looks at the times of a page before its items are taken. */
  see(items: readonly T[]): void {
    const times = items.map((item) => this.timeOf(item));
    if (Number.isFinite(this.#since)) this.expected = rowsDownTo(this.#since, times) + 1;
    this.#untimed = times.some((time) => time !== null) ? 0 : this.#untimed + 1;
  }

  /**
   * Fails if the pages have no times, because reading back to a time would then continue without
   * end.
   */
  checkTimes(): void {
    if (Number.isFinite(this.#since) && this.#untimed >= UNTIMED_PAGES) throw withoutTimes();
  }

  /**
   * The items that certainly belong to the range once this one was read: it, and those held before
   * it.
   */
  take(item: T): T[] {
    const time = this.timeOf(item);
    if (time !== null) this.#end.take(time < this.#since);
    if (time === null && this.#end.run > 0) {
      this.#held.push(item);
      return [];
    }
    if (this.#end.run > 0) return [];
    const items = [...this.#held, item];
    this.#held = [];
    return items.filter((candidate) => this.#takeTime(this.timeOf(candidate)));
  }

  /** Takes the next time, and returns whether it is before `until`. */
  #takeTime(time: number | null): boolean {
    if (time === null) return this.#isBelowUntil;
    if (time < this.#until) this.#isBelowUntil = true;
    return time < this.#until;
  }

  readonly timeOf = (item: T): number | null => usableTime(this.#timeOf(item), this.#clock.now());
}

const withoutTimes = () =>
  new Failure('answer', 'no post has a readable time, so --since cannot be applied', {
    code: 'NO_TIMES',
    hint: 'use --limit instead; run "trdr doctor" to see how the service differs from its description',
  });
