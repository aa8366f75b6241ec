import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { createRecentSet } from '../../base/recent-set.ts';
import { BUDGET } from '../../contract/budget.ts';
import { THESIS_BLOCK } from '../../contract/limits.ts';

/** Newest first. */
export interface ListPage<T> {
  readonly hasMore: boolean;
  readonly nextBefore: string | null;
  readonly items: readonly T[];
}

export interface PageFeed<T, P extends ListPage<T> = ListPage<T>> {
  /**
   * Items older than `before`, or the newest page. `rows` is undefined if the page size cannot be
   * chosen.
   */
  page(before: string | undefined, rows: number | undefined, signal?: AbortSignal): Promise<P>;
  /** An item without an id cannot be recognized as repeated or used as a cursor. */
  readonly idOf: (item: T) => string | undefined;
}

export interface Reading {
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly before?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How often a page that leads nowhere is requested. */
  readonly tries?: number | undefined;
  /** The wait before the nth repetition of such a request; by default, n seconds. */
  readonly pauseMs?: ((repetition: number) => number) | undefined;
  /** Whether reading continues below the last item after a reported end, until the caller stops. */
  readonly doubtsEnd?: boolean | undefined;
}

export interface ReadPage<T, P extends ListPage<T>> {
  readonly page: P;
  readonly fresh: readonly T[];
  /** Undefined if this page is the last one. */
  readonly next: string | undefined;
  /** How many answers in a row had no item and reported the end of the feed. */
  readonly ends: number;
}

const TRIES = 3;
const PAUSE_MS = 1_000;
const CURSORS_TRIED = 4;
const REMEMBERED = 5_000;

/** How many rows to request; undefined if the page size cannot be chosen. */
type PageSize = (isRepeated: boolean) => number | undefined;

/**
 * Reads on demand, from new to old. A page without new items, although older ones exist, is
 * retried, then fails. `size` knows such a repetition by its argument, because the smallest page is
 * enough for it.
 */
export async function* readPages<T, P extends ListPage<T>>(
  feed: PageFeed<T, P>,
  reading: Reading,
  size: PageSize = () => undefined,
): AsyncGenerator<ReadPage<T, P>, void, void> {
  const { clock, signal, tries = TRIES, pauseMs = (n) => n * PAUSE_MS } = reading;
  const place = new PageCursor<T, P>(feed, reading, size);
  for (;;) {
    const { isShown, isEnd, ...read } = place.read(await place.request());
    if (isShown) yield read;
    if (isEnd) return;
    if (place.stops === 0) continue;
    const { page } = read;
    if (place.stops >= tries) {
      if (page.hasMore) throw stopped('WALK_STUCK');
      if (reading.doubtsEnd) throw stopped('FEED_ENDED');
      return;
    }
    await clock.sleep(pauseMs(place.stops), signal);
  }
}

interface PlacedPage<T, P extends ListPage<T>> extends ReadPage<T, P> {
  /**
   * Whether the caller learns from it: it has new items, or it is an end that is believed or
   * doubted.
   */
  readonly isShown: boolean;
  readonly isEnd: boolean;
}

/** Where a reader is in a feed, and how it continues from there. */
class PageCursor<T, P extends ListPage<T>> {
  /** How many requests in a row have led nowhere. */
  stops = 0;
  readonly #feed: PageFeed<T, P>;
  readonly #signal: AbortSignal | undefined;
  readonly #doubtsEnd: boolean;
  readonly #size: PageSize;
  readonly #seen = createRecentSet(REMEMBERED);
  /** The cursors of the reader; the one that the user gave is not among them. */
  readonly #used = new Set<string>();
  /** Where the next page begins: the first one that the service accepts. */
  #cursors: readonly string[];
  #ends = 0;
  /** Whether the service has ever reported more, so that an empty page may not be the end. */
  #isPromised = false;
  #mostRows = Number.POSITIVE_INFINITY;

  constructor(
    feed: PageFeed<T, P>,
    { before, signal, doubtsEnd = false }: Reading,
    size: PageSize,
  ) {
    this.#feed = feed;
    this.#signal = signal;
    this.#doubtsEnd = doubtsEnd;
    this.#size = size;
    this.#cursors = before === undefined ? [] : [before];
  }

  /**
   * Requests the next page. The service rejects the id of a post that was deleted meanwhile; then
   * ids of newer posts are tried.
   */
  async request(): Promise<P> {
    const [first, ...others] = this.#cursors;
    for (let cursor = first; ; ) {
      const wanted = this.#size(this.stops > 0);
      const rows = wanted === undefined ? undefined : Math.min(wanted, this.#mostRows);
      try {
        return await this.#feed.page(cursor, rows, this.#signal);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        // A budget or allowance that does not cover a large page may cover smaller ones.
        if (isUnaffordable(error) && (rows ?? 0) > THESIS_BLOCK) this.#mostRows = THESIS_BLOCK;
        // A cursor that the user gave is not replaced.
        else if (error.kind === 'usage' && error.status === 400 && this.#used.size > 0) {
          cursor = others.shift();
          if (cursor === undefined) throw stopped('CURSOR_LOST', error);
        } else throw error;
      }
    }
  }

  /** Takes a page, and moves on if it leads to older items. */
  read(page: P): PlacedPage<T, P> {
    const doubtsEnd = this.#doubtsEnd;
    const fresh = this.#freshIn(page);
    const following = this.#following(page);
    // The cursor of a page without new items could skip items.
    const [next] = (page.hasMore || doubtsEnd) && fresh.length > 0 ? following : [];
    const isEnd = !page.hasMore && !doubtsEnd && (fresh.length > 0 || !this.#isPromised);
    this.#isPromised ||= page.hasMore;
    this.#ends = !page.hasMore && page.items.length === 0 ? this.#ends + 1 : 0;
    if (next === undefined) this.stops++;
    else {
      this.#used.add(next);
      this.#cursors = [...following].slice(0, CURSORS_TRIED);
      // A doubted end leads on, but only time can show whether there is more.
      this.stops = page.hasMore ? 0 : 1;
    }
    const isShown = isEnd || fresh.length > 0 || (doubtsEnd && !page.hasMore);
    return { page, fresh, next, ends: this.#ends, isShown, isEnd };
  }

  #freshIn(page: P): readonly T[] {
    return page.items.filter((item) => {
      const id = this.#feed.idOf(item);
      // If the page was requested before, an item without an id would be repeated.
      return id === undefined ? this.stops === 0 : this.#seen.add(id);
    });
  }

  /** The cursors that lead on, the best one first. */
  #following(page: P): ReadonlySet<string> {
    const ids = page.items.map(this.#feed.idOf).reverse();
    const named = [page.nextBefore ?? undefined, ...ids].filter((id) => id !== undefined);
    return new Set(named.filter((id) => !this.#used.has(id)));
  }
}

const isUnaffordable = ({ kind, code }: Failure): boolean => kind === 'quota' || code === BUDGET;

const stops = {
  CURSOR_LOST: 'the service rejects the ids of the last posts as cursors',
  WALK_STUCK: 'the service sends no new rows, although it reports more',
  FEED_ENDED: 'the service reports the end of the feed too early',
} as const;
export type StopCode = keyof typeof stops;

export const stopText = (code: StopCode): string => stops[code];

export function stopCodeOf(error: unknown): StopCode | undefined {
  const { code } = error instanceof Failure ? error : {};
  return code === 'CURSOR_LOST' || code === 'WALK_STUCK' || code === 'FEED_ENDED'
    ? code
    : undefined;
}

const stopped = (code: StopCode, cause?: Failure) =>
  new Failure(
    code === 'CURSOR_LOST' ? 'answer' : 'service',
    `cannot request the next page: ${stops[code]}`,
    {
      code,
      ...(cause?.status !== undefined && { status: cause.status }),
      retryable: true,
      hint: 'try again later',
      cause,
    },
  );
