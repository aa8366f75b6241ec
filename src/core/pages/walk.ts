import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { createRecentSet } from '../../base/recent-set.ts';
import { BUDGET } from '../../contract/budget.ts';
import { THESIS_BLOCK } from '../../contract/limits.ts';
import { blockSizer } from './page-size.ts';

/** A page of a feed, newest first. */
export interface ListPage<T> {
  readonly hasMore: boolean;
  readonly nextBefore: string | null;
  readonly items: readonly T[];
}

/** A feed that is fetched page by page with ids as cursors. */
export interface PageFeed<T, P extends ListPage<T> = ListPage<T>> {
  /**
   * Fetches the page of items older than the item with the id `before`, or the newest page if `before` is
   * undefined. `rows` is undefined if the page size cannot be chosen.
   */
  page(before: string | undefined, rows: number | undefined, signal?: AbortSignal): Promise<P>;
  /**
   * The id of an item; undefined if the item has no id. Such an item cannot be recognized as repeated or used
   * as a cursor.
   */
  readonly idOf: (item: T) => string | undefined;
}

/** A feed whose items have post times. */
export interface TimedFeed<T> extends PageFeed<T> {
  /** Post time in epoch ms; null if not known. */
  readonly timeOf: (item: T) => number | null;
  /**
   * Whether the run can pay for a page of `rows` rows. Absent if the page size cannot be chosen; otherwise the price
   * depends on it.
   */
  readonly affords?: ((rows: number) => boolean) | undefined;
}

/** How to read pages. */
export interface Reading {
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  /** Only items older than the item with this id. */
  readonly before?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface WalkOptions extends Reading {
  /** The maximum number of rows; undefined for all. */
  readonly limit?: number | undefined;
  /** Only items posted at or after this time, epoch ms. */
  readonly since?: number | undefined;
  /** Only items posted before this time, epoch ms. */
  readonly until?: number | undefined;
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

/** A page that was read. */
export interface ReadPage<T, P extends ListPage<T>> {
  readonly page: P;
  /** The items of the page that no earlier page contained. */
  readonly fresh: readonly T[];
  /** The cursor of the next page; undefined if this page is the last one. */
  readonly next: string | undefined;
}

/** How often a page is requested before it counts as the end. */
const TRIES = 3;
/** The wait before the second request for a page; it doubles for the third one. */
const PAUSE_MS = 1_000;
/** How many items of a page are tried as cursors, oldest first. */
const CURSORS_TRIED = 4;
/** The number of ids remembered to recognize repeated items. */
const REMEMBERED = 5_000;

/**
 * Reads a feed page by page, from new to old. Requests a page only when the caller has consumed the previous one.
 * A page without new items, although older items exist, is requested again; if it stays so, the feed cannot be
 * read further, and the reader throws. `size` returns the number of rows to request.
 */
export async function* readPages<T, P extends ListPage<T>>(
  feed: PageFeed<T, P>,
  { before, clock, signal }: Reading,
  size: () => number | undefined = () => undefined,
): AsyncGenerator<ReadPage<T, P>, void, void> {
  const seen = createRecentSet(REMEMBERED);
  const used = new Set<string>();
  let cursors: readonly string[] = before === undefined ? [] : [before];
  let tries = 0;
  /** Whether an answer stated that older items exist. */
  let isPromised = false;
  let most = Number.POSITIVE_INFINITY;

  /**
   * Requests the page behind the first cursor. The service rejects the id of a post that was deleted during the
   * walk; then tries the ids of newer posts, whose pages repeat some items.
   */
  async function request(): Promise<P> {
    const [first, ...others] = cursors;
    for (let cursor = first; ; ) {
      const wanted = size();
      const rows = wanted === undefined ? undefined : Math.min(wanted, most);
      try {
        return await feed.page(cursor, rows, signal);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        // If a budget or the allowance of the key does not cover a large page, it may cover smaller ones.
        if (isUnaffordable(error) && (rows ?? 0) > THESIS_BLOCK) most = THESIS_BLOCK;
        // Do not replace a cursor that the user gave.
        else if (error.kind === 'usage' && error.status === 400 && used.size > 0) {
          cursor = others.shift();
          if (cursor === undefined) throw cursorLost(error);
        } else throw error;
      }
    }
  }

  for (;;) {
    const page = await request();
    const fresh = page.items.filter((item) => {
      const id = feed.idOf(item);
      // If the page was requested before, an item without an id would be repeated.
      return id === undefined ? tries === 0 : seen.add(id);
    });
    const ids = page.items.map(feed.idOf).reverse();
    const named = [page.nextBefore ?? undefined, ...ids].filter((id) => id !== undefined);
    const following = new Set(named.filter((id) => !used.has(id)));
    // The cursor of a page without new items could skip items, so it is not used.
    const [next] = page.hasMore && fresh.length > 0 ? following : [];
    const isEnd = !page.hasMore && (fresh.length > 0 || !isPromised);
    isPromised ||= page.hasMore;
    if (isEnd || fresh.length > 0) yield { page, fresh, next };
    if (isEnd) return;
    if (next !== undefined) {
      used.add(next);
      cursors = [...following].slice(0, CURSORS_TRIED);
      tries = 0;
    } else if (++tries < TRIES) await clock.sleep(PAUSE_MS * tries, signal);
    else if (page.hasMore) throw stuck();
    else return;
  }
}

/** Whether the money for a page is used up, although a smaller page may still fit. */
const isUnaffordable = ({ kind, code }: Failure): boolean => kind === 'quota' || code === BUDGET;

/** A lower number is not a time in milliseconds, because no post is that old: 1e12 ms is in the year 2001. */
const EARLIEST_MS = 1e12;
/** A time further ahead than this is not the time of a post. */
const AHEAD_MS = 86_400_000;
/** A walk back to a given time ends at this many consecutive items that are older, because one time may be wrong. */
const OLDER_ITEMS = 3;
/**
 * A walk back to a given time fails after this many consecutive pages without a usable time. Otherwise it could
 * continue without end.
 */
const UNTIMED_PAGES = 3;

/** Reads a feed from new to old, and yields each item once. */
export async function* walkPages<T>(
  feed: TimedFeed<T>,
  options: WalkOptions,
  {
    matches = () => true,
    maxPages = Number.POSITIVE_INFINITY,
    onGiveUp,
    onPage,
  }: Partial<WalkFilter<T>> = {},
): AsyncGenerator<T, void, void> {
  const { since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY, clock } = options;
  const sizer = feed.affords && blockSizer(since, feed.affords);
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  let untimed = 0;
  let unmatched = 0;
  /** The number of consecutive items that are older than `since`; items without a time do not count. */
  let older = 0;
  let isDone = false;
  /** Items without a time below an older item. If a newer item follows, the time of the older item was wrong. */
  let held: T[] = [];
  /**
   * Whether an item older than `until` was reached. From then on, items without a time count as older than
   * `until`; before, they are skipped.
   */
  let isBelowUntil = options.until === undefined;
  const timeOf = (item: T) => {
    const time = feed.timeOf(item);
    if (time === null || time > clock.now() + AHEAD_MS) return null;
    return time < EARLIEST_MS && since >= EARLIEST_MS ? null : time;
  };
  const isBefore = (time: number | null) => {
    if (time !== null && time < until) isBelowUntil = true;
    return time === null ? isBelowUntil : time < until;
  };

  for await (const { page, fresh, next } of readPages(feed, options, sizer && (() => sizer.next(left)))) {
    sizer?.saw(page.items.map(timeOf), page.hasMore);
    unmatched++;
    for (const item of fresh) {
      const time = timeOf(item);
      if (time !== null && time < since) {
        older++;
        isDone ||= older >= OLDER_ITEMS;
      } else if (time === null && older > 0) held.push(item);
      else {
        const items = [...held, item];
        held = [];
        older = 0;
        for (const each of items) {
          if (!isBefore(timeOf(each)) || !matches(each)) continue;
          unmatched = 0;
          yield each;
          if (--left === 0) return;
        }
      }
    }
    if (isDone) return;
    untimed = page.items.some((item) => timeOf(item) !== null) ? 0 : untimed + 1;
    if (Number.isFinite(since) && untimed >= UNTIMED_PAGES) throw withoutTimes();
    if (next === undefined) continue;
    if (unmatched >= maxPages) return onGiveUp?.(unmatched, next);
    onPage?.(next);
  }
}

const cursorLost = (cause: Failure) =>
  new Failure(
    'answer',
    'cannot request the next page: the service rejects the ids of the last posts as cursors',
    {
      code: 'CURSOR_LOST',
      status: 400,
      retryable: true,
      hint: 'run the command again to start from the newest post',
      cause,
    },
  );

const withoutTimes = () =>
  new Failure('answer', 'no post has a readable time, so --since cannot be applied', {
    code: 'NO_TIMES',
    hint: 'use --limit instead; run "trdr doctor" to see how the service differs from its description',
  });

const stuck = () =>
  new Failure('service', `no new rows in ${TRIES} answers in a row, although the service reports more`, {
    code: 'WALK_STUCK',
    retryable: true,
    hint: 'try again later',
  });
