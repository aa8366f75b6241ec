import { Failure } from '../../base/failure.ts';
import { createRecentSet } from '../../base/recent-set.ts';
import { blockSizer, type PageSizer } from './page-size.ts';

/** A page of a feed, newest first. */
export interface ListPage<T> {
  readonly hasMore: boolean;
  readonly nextBefore: string | null;
  readonly items: readonly T[];
}

/** A feed that is fetched page by page with ids as cursors. */
export interface PageFeed<T> {
  /**
   * Fetches the page of items older than the item with the id `before`, or the newest page if `before` is
   * undefined. `rows` is undefined if the page size cannot be chosen.
   */
  page(before: string | undefined, rows: number | undefined, signal?: AbortSignal): Promise<ListPage<T>>;
  /**
   * The id of an item; undefined if the item has no id. Such an item cannot be recognized as repeated or used
   * as a cursor.
   */
  readonly idOf: (item: T) => string | undefined;
  /** Post time in epoch ms; null if not known. */
  readonly timeOf: (item: T) => number | null;
  /** Whether the page size can be chosen; the price then depends on it. */
  readonly sized: boolean;
}

export interface WalkOptions {
  /** The maximum number of rows; undefined for all. */
  readonly limit?: number | undefined;
  /** Only items posted at or after this time, epoch ms. */
  readonly since?: number | undefined;
  /** Only items posted before this time, epoch ms. */
  readonly until?: number | undefined;
  /** Only items older than the item with this id. */
  readonly before?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Which items a walk yields, and when it stops searching for them. */
export interface WalkFilter<T> {
  readonly matches: (item: T) => boolean;
  /** Called with the cursor of the next page before that page is requested. */
  readonly onPage?: ((next: string) => void) | undefined;
  /** Stops the walk after this many consecutive pages without a matching item. */
  readonly maxPages?: number | undefined;
  /** Called if the walk stops because of `maxPages`, with the cursor from which another walk can continue. */
  readonly onGiveUp?: ((pages: number, before: string) => void) | undefined;
}

/** The walk fails after this many consecutive pages without an item that it has not seen before. */
const BARREN_PAGES = 2;
/**
 * A walk back to a given time fails after this many consecutive pages without a readable time. Otherwise it
 * could continue without end.
 */
const UNTIMED_PAGES = 3;
/** How many items of a page are tried as cursors, oldest first. */
const CURSORS_TRIED = 3;
/** The number of ids remembered to recognize repeated items. */
const REMEMBERED = 5_000;

/** A lower number is not a time in milliseconds, because no post is that old: 1e12 ms is in the year 2001. */
const EARLIEST_MS = 1e12;

/**
 * Fetches a feed page by page, from new to old, and yields each item once. Requests a page only when the
 * caller has consumed the previous page.
 */
export async function* walkPages<T>(
  feed: PageFeed<T>,
  options: WalkOptions = {},
  {
    matches = () => true,
    maxPages = Number.POSITIVE_INFINITY,
    onGiveUp,
    onPage,
  }: Partial<WalkFilter<T>> = {},
): AsyncGenerator<T, void, void> {
  const { since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY, signal } = options;
  const seen = createRecentSet(REMEMBERED);
  const cursors = new Set<string>();
  const sizer: PageSizer | undefined = feed.sized ? blockSizer(since) : undefined;
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  let candidates: readonly string[] = options.before === undefined ? [] : [options.before];
  let barren = 0;
  let untimed = 0;
  let unmatched = 0;
  /**
   * Whether an item older than `until` was reached. From then on, items without a time count as older than
   * `until`; before, they are skipped.
   */
  let isBelowUntil = options.until === undefined;
  /**
   * Whether the item that was read last is older than `since`; an item without a time does not change this. The walk
   * ends only if this is true at the end of a page, so a wrong time in the middle of a page does not end it.
   */
  let isBelowSince = false;
  const timeOf = (item: T) => {
    const time = feed.timeOf(item);
    return time !== null && time < EARLIEST_MS && since >= EARLIEST_MS ? null : time;
  };

  while (left > 0) {
    const page = await pageBehind(feed, candidates, sizer?.next(left), cursors.size > 0, signal);
    sizer?.saw(page.items.map(feed.timeOf), page.hasMore);
    let news = 0;
    unmatched++;
    for (const item of page.items) {
      const id = feed.idOf(item);
      if (id !== undefined && !seen.add(id)) continue;
      news++;
      const time = timeOf(item);
      if (time !== null) isBelowSince = time < since;
      if (isBelowSince) continue;
      if (time !== null && time < until) isBelowUntil = true;
      if (time === null ? !isBelowUntil : time >= until) continue;
      if (!matches(item)) continue;
      unmatched = 0;
      yield item;
      if (--left === 0) return;
    }
    if (!page.hasMore || isBelowSince) return;
    untimed = page.items.some((item) => timeOf(item) !== null) ? 0 : untimed + 1;
    if (Number.isFinite(since) && untimed >= UNTIMED_PAGES) throw withoutTimes();
    // If the page does not name a cursor, its oldest item is the cursor.
    const rows = page.items
      .map(feed.idOf)
      .filter((id) => id !== undefined)
      .reverse();
    const next = page.nextBefore ?? rows[0];
    barren = news === 0 ? barren + 1 : 0;
    if (next === undefined || cursors.has(next) || barren >= BARREN_PAGES) throw stuck();
    if (unmatched >= maxPages) return onGiveUp?.(unmatched, next);
    onPage?.(next);
    cursors.add(next);
    candidates = [next, ...rows.filter((id) => id !== next)].slice(0, CURSORS_TRIED);
  }
}

/**
 * Returns the next page. Its cursor is usually the id of the oldest item so far. The service rejects this id
 * if the post was deleted during the walk. In this case, tries the ids of newer items; the caller drops the
 * items that are repeated as a result.
 */
async function pageBehind<T>(
  feed: PageFeed<T>,
  candidates: readonly string[],
  rows: number | undefined,
  within: boolean,
  signal: AbortSignal | undefined,
): Promise<ListPage<T>> {
  if (candidates.length === 0) return await feed.page(undefined, rows, signal);
  let refusal: unknown;
  for (const cursor of candidates) {
    try {
      return await feed.page(cursor, rows, signal);
    } catch (error) {
      // Try another cursor only after a 400, and never in place of a cursor that the user gave.
      if (!within || !(error instanceof Failure) || error.status !== 400) throw error;
      refusal = error;
    }
  }
  throw new Failure(
    'answer',
    'cannot request the next page: the service rejects the ids of the last posts as cursors',
    {
      code: 'CURSOR_LOST',
      status: 400,
      retryable: true,
      hint: 'run the command again to start from the newest post',
      cause: refusal,
    },
  );
}

const withoutTimes = () =>
  new Failure('answer', 'no post has a readable time, so --since cannot be applied', {
    code: 'NO_TIMES',
    hint: 'use --limit instead; run "trdr doctor" to see how the service differs from its description',
  });

const stuck = () =>
  new Failure('answer', 'pagination loop: the service reports more pages but sends the same rows again', {
    code: 'WALK_STUCK',
    hint: 'no row is missing so far; to continue, pass --before with the id of the last row',
  });
