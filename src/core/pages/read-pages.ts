import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { createRecentSet } from '../../base/recent-set.ts';
import { BUDGET } from '../../contract/budget.ts';
import { createPageSizer, type PageSizer } from './page-size.ts';
import { withoutFutureTimes } from './post.ts';
import type { AskedPage, FeedPage, PageSource } from './source.ts';

/** A source whose pages have more than others. */
interface SourceOf<P extends FeedPage> extends Pick<PageSource, 'sizes' | 'affords'> {
  page(ask: AskedPage, signal: AbortSignal): Promise<P>;
}

export interface Reading {
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  /**
   * Where to begin: at this cursor, which is not replaced, or at the first one of a list that the
   * service accepts.
   */
  readonly before?: string | readonly string[] | undefined;
  readonly signal: AbortSignal;
  /** Chooses the sizes of the pages; by default, one that has learned nothing yet. */
  readonly sizer?: PageSizer | undefined;
  /** How often a page that leads nowhere is requested. */
  readonly tries?: number | undefined;
  /** The wait before the nth repetition of such a request; by default, n seconds. */
  readonly pauseMs?: ((repetition: number) => number) | undefined;
  /**
   * How many answers in a row must have no row and report the end before it is believed; by
   * default, any report is. Until then, reading continues below the last row.
   */
  readonly endProof?: number | undefined;
  /** Whether a page whose posts are all dated far ahead shows that the clock is wrong. */
  readonly doubtsClock?: boolean | undefined;
}

/** A page as it was read: the times of its rows are usable. */
export interface PageRead<P extends FeedPage = FeedPage> {
  readonly page: P;
  /** The rows that no page before had. */
  readonly fresh: P['rows'];
  /** Undefined if this page is the last one. */
  readonly next: string | undefined;
  /** How many answers in a row had no row and reported the end of the feed. */
  readonly ends: number;
}

const TRIES = 3;
const PAUSE_MS = 1_000;
const CURSORS_TRIED = 4;
const REMEMBERED = 5_000;

/**
 * Asks for the smallest pages, for a caller that does not know how many rows it needs: of several
 * feeds, others may have newer ones.
 */
export const oneRow = () => 1;

/**
 * Reads on demand, from new to old. A page without new rows, although older ones exist, is retried,
 * then fails. `expected` is the number of rows that the caller still needs.
 */
export async function* readPages<P extends FeedPage>(
  source: SourceOf<P>,
  reading: Reading,
  expected: () => number = oneRow,
): AsyncGenerator<PageRead<P>, void, void> {
  const { clock, signal, tries = TRIES, pauseMs = (n) => n * PAUSE_MS } = reading;
  const place = new PageCursor<P>(source, reading, expected);
  for (;;) {
    const { isShown, isEnd, ...read } = place.read(await place.request());
    if (isShown) yield read;
    if (isEnd) return;
    if (place.stops === 0) continue;
    const { page } = read;
    if (place.stops >= tries) {
      if (page.hasMore) throw stopped('WALK_STUCK');
      if (reading.endProof) throw stopped('FEED_ENDED');
      return;
    }
    await clock.sleep(pauseMs(place.stops), signal);
  }
}

interface PlacedPage<P extends FeedPage> extends PageRead<P> {
  /**
   * Whether the caller learns from it: it has new rows, or it is an end that is believed or
   * doubted.
   */
  readonly isShown: boolean;
  readonly isEnd: boolean;
}

/** Where a reader is in a feed, and how it continues from there. */
class PageCursor<P extends FeedPage> {
  /** How many requests in a row have led nowhere. */
  stops = 0;
  readonly #source: SourceOf<P>;
  readonly #clock: Reading['clock'];
  readonly #signal: AbortSignal;
  readonly #endProof: number;
  readonly #doubtsClock: boolean;
  readonly #sizer: PageSizer;
  readonly #expected: () => number;
  readonly #mayReplace: boolean;
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
    source: SourceOf<P>,
    { before, clock, signal, endProof = 0, doubtsClock = false, sizer }: Reading,
    expected: () => number,
  ) {
    this.#source = source;
    this.#clock = clock;
    this.#signal = signal;
    this.#endProof = endProof;
    this.#doubtsClock = doubtsClock;
    this.#sizer = sizer ?? createPageSizer(source.sizes, source.affords);
    this.#expected = expected;
    this.#cursors = before === undefined ? [] : [before].flat();
    this.#mayReplace = Array.isArray(before);
  }

  /**
   * Requests the next page. The service rejects the id of a post that was deleted meanwhile; then
   * ids of newer posts are tried.
   */
  async request(): Promise<P> {
    const [first, ...others] = this.#cursors;
    for (let cursor = first; ; ) {
      // The smallest page is enough to repeat a request that led nowhere.
      const expected = this.#expected();
      const wanted = this.#sizer.next(this.stops > 0 ? 1 : expected);
      const asked = { limit: Math.min(wanted, this.#mostRows), expected };
      const ask = cursor === undefined ? asked : { ...asked, before: cursor };
      try {
        return await this.#source.page(ask, this.#signal);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        // A budget or allowance that does not cover a large page may cover smaller ones.
        const { step } = this.#source.sizes;
        if (isUnaffordable(error) && asked.limit > step) this.#mostRows = step;
        else if (isRejection(error) && (this.#mayReplace || this.#used.size > 0)) {
          cursor = others.shift();
          if (cursor === undefined) throw stopped('CURSOR_LOST', error);
        } else throw error;
      }
    }
  }

  /** Takes a page, and moves on if it leads to older items. */
  read(answer: P): PlacedPage<P> {
    const rows = withoutFutureTimes(answer.rows, this.#clock.now(), this.#doubtsClock);
    const page = { ...answer, rows };
    const doubtsEnd = this.#endProof > 0;
    const fresh = this.#freshIn(page);
    const following = this.#following(page);
    // What leads nowhere says nothing of the sizes of pages.
    if (fresh.length > 0) this.#sizer.saw(page.rows.length, page.hasMore);
    // The cursor of a page without new rows could skip rows.
    const [next] = (page.hasMore || doubtsEnd) && fresh.length > 0 ? following : [];
    this.#ends = !page.hasMore && page.rows.length === 0 ? this.#ends + 1 : 0;
    const isReport = fresh.length > 0 || !this.#isPromised;
    const isEnd = !page.hasMore && (doubtsEnd ? this.#ends >= this.#endProof : isReport);
    this.#isPromised ||= page.hasMore;
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

  /** If the page was requested before, a row without an id would be repeated. */
  #freshIn(page: P): P['rows'] {
    return page.rows.filter(({ id }) => (id === null ? this.stops === 0 : this.#seen.add(id)));
  }

  /** The cursors that lead on, the best one first. */
  #following(page: P): ReadonlySet<string> {
    const ids = page.rows.map(({ id }) => id).reverse();
    const named = [page.nextBefore, ...ids].filter((id) => id !== null);
    return new Set(named.filter((id) => !this.#used.has(id)));
  }
}

const isRejection = ({ kind, status }: Failure): boolean => kind === 'usage' && status === 400;
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
