import { Failure } from '../../base/failure.ts';
import { createRecentSet } from '../../base/recent-set.ts';
import { blockSizer, type PageSizer } from './page-size.ts';

/** A page of a feed, newest first. */
export interface ListPage<T> {
  readonly hasMore: boolean;
  readonly nextBefore: string | null;
  readonly items: readonly T[];
}

/** A feed that is walked by ids. */
export interface PageFeed<T> {
  /** A page of rows older than `before`; `rows` is undefined where the feed's pages have one size. */
  page(before: string | undefined, rows: number | undefined, signal?: AbortSignal): Promise<ListPage<T>>;
  /** Undefined where the item has none: it can be neither told from others nor used as a cursor. */
  readonly idOf: (item: T) => string | undefined;
  /** Post time, epoch ms, where it is known. */
  readonly timeOf: (item: T) => number | null;
  /** Whether the page size can be chosen, and is paid for. */
  readonly sized: boolean;
}

export interface WalkOptions {
  /** The maximum number of rows; undefined for all. */
  readonly limit?: number | undefined;
  /** Rows posted at or after this, epoch ms. */
  readonly since?: number | undefined;
  /** Rows posted before this, epoch ms. */
  readonly until?: number | undefined;
  /** Rows older than the one with this id. */
  readonly before?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Which rows of a walk are given, and how long it searches for them. */
export interface WalkFilter<T> {
  readonly matches: (item: T) => boolean;
  /** Stops the walk after so many pages in a row without a matching row. */
  readonly maxPages?: number | undefined;
  /** Told when the walk stops for that reason, with the cursor that continues it. */
  readonly onGiveUp?: ((pages: number, before: string) => void) | undefined;
}

/** Pages in a row that may bring nothing new before the walk is given up. */
const BARREN_PAGES = 2;
/** Pages in a row without a single time, after which a walk down to a time is given up: it would never get there. */
const UNTIMED_PAGES = 3;
/** Rows that are tried as a cursor where the last one is known no more. */
const CURSORS_TRIED = 3;
/** Ids that are remembered against rows given twice. */
const REMEMBERED = 5_000;

/** Walks a feed from new to old, page by page as rows are taken, each row once. */
export async function* walk<T>(
  feed: PageFeed<T>,
  options: WalkOptions = {},
  { matches = () => true, maxPages = Number.POSITIVE_INFINITY, onGiveUp }: Partial<WalkFilter<T>> = {},
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
  /** A post without a time cannot be shown to be older than --until. With --since alone it is given: it was paid for. */
  const isDated = options.until !== undefined;

  while (left > 0) {
    const page = await pageBehind(feed, candidates, sizer?.next(left), cursors.size > 0, signal);
    sizer?.saw(page.items.map(feed.timeOf), page.hasMore);
    let news = 0;
    unmatched++;
    for (const item of page.items) {
      const id = feed.idOf(item);
      if (id !== undefined && !seen.add(id)) continue;
      news++;
      const time = feed.timeOf(item);
      if (time !== null && time < since) return;
      if (time === null ? isDated : time >= until) continue;
      if (!matches(item)) continue;
      unmatched = 0;
      yield item;
      if (--left === 0) return;
    }
    if (!page.hasMore) return;
    untimed = page.items.some((item) => feed.timeOf(item) !== null) ? 0 : untimed + 1;
    if (Number.isFinite(since) && untimed >= UNTIMED_PAGES) throw withoutTimes();
    // The oldest row is where the next page starts, also where the page does not say so.
    const rows = page.items
      .map(feed.idOf)
      .filter((id) => id !== undefined)
      .reverse();
    const next = page.nextBefore ?? rows[0];
    barren = news === 0 ? barren + 1 : 0;
    if (next === undefined || cursors.has(next) || barren >= BARREN_PAGES) throw stuck();
    if (unmatched >= maxPages) return onGiveUp?.(unmatched, next);
    cursors.add(next);
    candidates = [next, ...rows.filter((id) => id !== next)].slice(0, CURSORS_TRIED);
  }
}

/**
 * The page behind the first candidate that the service still knows. A post that was deleted during
 * the walk is no longer a cursor, so the row above it is tried; repeated rows are dropped.
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
      // A cursor that the user named, and everything but a 400, is not for the walk to mend.
      if (!within || !(error instanceof Failure) || error.status !== 400) throw error;
      refusal = error;
    }
  }
  throw new Failure('answer', 'the feed no longer knows the posts that the walk had come to', {
    code: 'CURSOR_LOST',
    status: 400,
    retryable: true,
    hint: 'start again from the newest',
    cause: refusal,
  });
}

const withoutTimes = () =>
  new Failure('answer', 'the posts have no time that --since could be compared with', {
    code: 'NO_TIMES',
    hint: 'use --limit instead; trdr doctor shows how the service differs from its description',
  });

const stuck = () =>
  new Failure('answer', 'the feed says that there is more, and gives the same again', {
    code: 'WALK_STUCK',
    hint: 'what came until here is complete; go on below it with --before',
  });
