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
   * A page of rows older than `before`; `rows` is undefined if all pages of the feed have the same size.
   */
  page(before: string | undefined, rows: number | undefined, signal?: AbortSignal): Promise<ListPage<T>>;
  /** Undefined if the item has no id: then it can neither be recognized nor used as a cursor. */
  readonly idOf: (item: T) => string | undefined;
  /** Post time, epoch ms, if known. */
  readonly timeOf: (item: T) => number | null;
  /** Whether the page size can be chosen and affects the price. */
  readonly sized: boolean;
}

export interface WalkOptions {
  /** The maximum number of rows; undefined for all. */
  readonly limit?: number | undefined;
  /** Rows posted at or after this time, epoch ms. */
  readonly since?: number | undefined;
  /** Rows posted before this time, epoch ms. */
  readonly until?: number | undefined;
  /** Rows older than the one with this id. */
  readonly before?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Which rows a walk yields, and how long it searches for them. */
export interface WalkFilter<T> {
  readonly matches: (item: T) => boolean;
  /** Called before the next page is requested, with its cursor. */
  readonly onPage?: ((next: string) => void) | undefined;
  /** Stops the walk after this many consecutive pages without a matching row. */
  readonly maxPages?: number | undefined;
  /** Called when the walk stops for that reason, with the cursor to continue from. */
  readonly onGiveUp?: ((pages: number, before: string) => void) | undefined;
}

/** The walk ends after this many consecutive pages without a new row. */
const BARREN_PAGES = 2;
/**
 * The walk to a time ends after this many consecutive pages without a single readable time: it would never
 * finish.
 */
const UNTIMED_PAGES = 3;
/** How many rows are tried as a cursor if the service rejects the last one. */
const CURSORS_TRIED = 3;
/** Number of ids that are remembered to drop repeated rows. */
const REMEMBERED = 5_000;

/** Walks a feed from new to old, fetching pages as rows are consumed, and yields each row once. */
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
  /** Whether a row older than `until` was seen. A post without a time is treated like its neighbors. */
  let isBelowUntil = options.until === undefined;

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
      if (time !== null && time < until) isBelowUntil = true;
      if (time === null ? !isBelowUntil : time >= until) continue;
      if (!matches(item)) continue;
      unmatched = 0;
      yield item;
      if (--left === 0) return;
    }
    if (!page.hasMore) return;
    untimed = page.items.some((item) => feed.timeOf(item) !== null) ? 0 : untimed + 1;
    if (Number.isFinite(since) && untimed >= UNTIMED_PAGES) throw withoutTimes();
    // The next page starts at the oldest row, even if the page does not say so.
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
 * The page after the first candidate cursor that the service accepts. A post deleted during the walk is no
 * longer a valid cursor, so the row above it is tried; repeated rows are dropped.
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
      // The walk does not retry with a cursor that the user gave, nor after an error other than 400.
      if (!within || !(error instanceof Failure) || error.status !== 400) throw error;
      refusal = error;
    }
  }
  throw new Failure(
    'answer',
    'the service rejects the last rows as cursors, so the next page cannot be requested',
    {
      code: 'CURSOR_LOST',
      status: 400,
      retryable: true,
      hint: 'start again from the newest post',
      cause: refusal,
    },
  );
}

const withoutTimes = () =>
  new Failure('answer', 'the posts have no readable time to compare with --since', {
    code: 'NO_TIMES',
    hint: 'use --limit instead; run trdr doctor to see how the service differs from its description',
  });

const stuck = () =>
  new Failure('answer', 'the service announces more pages but keeps sending the same rows', {
    code: 'WALK_STUCK',
    hint: 'the rows so far are complete; continue with --before',
  });
