import { Failure } from '../../base/failure.ts';
import { THESIS_BLOCK, THESIS_LIMIT_MAX } from '../../contract/limits.ts';
import { createPageSizer, rowsDownTo } from './page-size.ts';
import { type PageFeed, type Reading, readPages } from './read-pages.ts';

export interface TimedFeed<T> extends PageFeed<T> {
  /** Epoch ms; null if not known. */
  readonly timeOf: (item: T) => number | null;
  /** Whether the run can pay for a page of so many rows. Absent if the page size cannot be chosen. */
  readonly affords?: ((rows: number) => boolean) | undefined;
}

export interface WalkOptions extends Reading {
  readonly limit?: number | undefined;
  /** Epoch ms, inclusive. */
  readonly since?: number | undefined;
  /** Epoch ms, exclusive. */
  readonly until?: number | undefined;
}

export interface WalkFilter<T> {
  readonly matches: (item: T) => boolean;
  readonly onPage?: ((next: string) => void) | undefined;
  readonly maxPages?: number | undefined;
  readonly onGiveUp?: ((pages: number, before: string) => void) | undefined;
}

const thesisSizes = { step: THESIS_BLOCK, max: THESIS_LIMIT_MAX };

/** No post is older, so a lower number is not a time in milliseconds. */
const EARLIEST_MS = 1e12;
/** A time further ahead is not the time of a post. */
const AHEAD_MS = 86_400_000;
/** Ends a walk with `since`. A single one may have a wrong time. */
const OLDER_ITEMS = 3;
/** Ends a walk with `since`, which could otherwise continue without end. */
const UNTIMED_PAGES = 3;

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
  const sizer = feed.affords && createPageSizer(thesisSizes, feed.affords);
  /** How many more items there are until `since`, if posts are as frequent as on the last page. */
  let expected = Number.POSITIVE_INFINITY;
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  let untimed = 0;
  let unmatched = 0;
  /** Consecutive items older than `since`; items without a time do not count. */
  let older = 0;
  let isDone = false;
  /** Without a time, below an older item. If a newer item follows, the time of the older one was wrong. */
  let held: T[] = [];
  /** From then on, items without a time count as older than `until`; before, they are skipped. */
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

  for await (const { page, fresh, next } of readPages(
    feed,
    options,
    sizer && ((isRepeated) => sizer.next(isRepeated ? 1 : Math.min(left, expected))),
  )) {
    sizer?.saw(page.items.length, page.hasMore);
    if (Number.isFinite(since)) expected = rowsDownTo(since, page.items.map(timeOf)) + 1;
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

const withoutTimes = () =>
  new Failure('answer', 'no post has a readable time, so --since cannot be applied', {
    code: 'NO_TIMES',
    hint: 'use --limit instead; run "trdr doctor" to see how the service differs from its description',
  });
