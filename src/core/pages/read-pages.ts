import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { createRecentSet } from '../../base/recent-set.ts';
import { BUDGET } from '../../contract/budget.ts';
import { THESIS_BLOCK } from '../../contract/limits.ts';

/** Newest first. */
interface ListPage<T> {
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

/**
 * Reads on demand, from new to old. A page without new items, although older ones exist, is
 * retried, then fails. `size` knows such a repetition by its argument, because the smallest page is
 * enough for it.
 */
export async function* readPages<T, P extends ListPage<T>>(
  feed: PageFeed<T, P>,
  {
    before,
    clock,
    signal,
    tries = TRIES,
    pauseMs = (n) => n * PAUSE_MS,
    doubtsEnd = false,
  }: Reading,
  size: (isRepeated: boolean) => number | undefined = () => undefined,
): AsyncGenerator<ReadPage<T, P>, void, void> {
  const seen = createRecentSet(REMEMBERED);
  const used = new Set<string>();
  let cursors: readonly string[] = before === undefined ? [] : [before];
  let stops = 0;
  let ends = 0;
  let isPromised = false;
  let most = Number.POSITIVE_INFINITY;

  /**
   * The service rejects the id of a post that was deleted meanwhile; then ids of newer posts are
   * tried.
   */
  async function request(): Promise<P> {
    const [first, ...others] = cursors;
    for (let cursor = first; ; ) {
      const wanted = size(stops > 0);
      const rows = wanted === undefined ? undefined : Math.min(wanted, most);
      try {
        return await feed.page(cursor, rows, signal);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        // A budget or allowance that does not cover a large page may cover smaller ones.
        if (isUnaffordable(error) && (rows ?? 0) > THESIS_BLOCK) most = THESIS_BLOCK;
        // A cursor that the user gave is not replaced.
        else if (error.kind === 'usage' && error.status === 400 && used.size > 0) {
          cursor = others.shift();
          if (cursor === undefined) throw stopped('CURSOR_LOST', error);
        } else throw error;
      }
    }
  }

  for (;;) {
    const page = await request();
    const fresh = page.items.filter((item) => {
      const id = feed.idOf(item);
      // If the page was requested before, an item without an id would be repeated.
      return id === undefined ? stops === 0 : seen.add(id);
    });
    const ids = page.items.map(feed.idOf).reverse();
    const named = [page.nextBefore ?? undefined, ...ids].filter((id) => id !== undefined);
    const following = new Set(named.filter((id) => !used.has(id)));
    // The cursor of a page without new items could skip items.
    const [next] = (page.hasMore || doubtsEnd) && fresh.length > 0 ? following : [];
    const isEnd = !page.hasMore && !doubtsEnd && (fresh.length > 0 || !isPromised);
    isPromised ||= page.hasMore;
    ends = !page.hasMore && page.items.length === 0 ? ends + 1 : 0;
    if (isEnd || fresh.length > 0 || (doubtsEnd && !page.hasMore))
      yield { page, fresh, next, ends };
    if (isEnd) return;
    if (next !== undefined) {
      used.add(next);
      cursors = [...following].slice(0, CURSORS_TRIED);
      stops = 0;
      if (page.hasMore) continue;
    }
    stops++;
    if (stops >= tries && !page.hasMore && !doubtsEnd) return;
    if (stops >= tries) throw stopped(page.hasMore ? 'WALK_STUCK' : 'FEED_ENDED');
    await clock.sleep(pauseMs(stops), signal);
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
