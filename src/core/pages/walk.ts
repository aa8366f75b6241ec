import { Failure } from '../../base/failure.ts';
import { Density } from './page-size.ts';
import type { PageRow } from './post.ts';
import { Boundary } from './proof.ts';
import { type Reading, readPages } from './read-pages.ts';
import type { PageSource } from './source.ts';

export interface WalkOptions extends Reading {
  readonly limit?: number | undefined;
  /** Epoch ms, inclusive. */
  readonly since?: number | undefined;
  /** Epoch ms, exclusive. */
  readonly until?: number | undefined;
}

/** Which rows a walk yields, and when it gives up. */
export interface WalkFilter {
  readonly matches: (row: PageRow) => boolean;
  /** Called after each page with what was taken of it. */
  readonly onPage?: ((taken: Taken) => void) | undefined;
  /** The walk gives up after so many consecutive pages without a matching row. */
  readonly maxPages?: number | undefined;
  readonly onGiveUp?: ((pages: number) => void) | undefined;
}

/** How far a list has come. */
export interface Taken {
  /** The place from which another list would continue; undefined if nothing follows. */
  readonly next: string | undefined;
  /** Whether the rows that were taken may lack newer ones, because the reading stopped. */
  readonly isUnsure: boolean;
}

/** After so many pages without a usable time, a walk to a time fails: it could have no end. */
const UNTIMED_PAGES = 3;

/** What one page adds to a list. */
export interface ListBatch {
  /** The rows of the time range. */
  readonly rows: readonly PageRow[];
  /** The place below the first so many of the rows; undefined if nothing follows there. */
  readonly placeAfter: (count: number) => string | undefined;
  /** Takes the rows that were read but are not in a batch yet, because newer ones may follow. */
  readonly rest?: (() => ListBatch) | undefined;
  /**
   * What ended the reading. The rows are then the last ones, and newer ones may be missing among
   * them.
   */
  readonly failure?: { readonly error: unknown } | undefined;
  /** The failure of a list that ends here: no post that was read has a time for its range. */
  readonly untimed?: Failure | undefined;
}

/** A batch of the pages of one feed. */
export interface PageBatch extends ListBatch {
  /** Where the next page begins; undefined after the last one. */
  readonly next: string | undefined;
  /** Whether nothing of the range follows. */
  readonly isLast: boolean;
  /** The post times of the whole page; null for those that cannot be read. */
  readonly times: readonly (number | null)[];
  /** How many more rows there are down to `since`, if posts are as frequent as on this page. */
  readonly expected: number;
}

/** How many more rows a list takes. */
export interface RowsLeft {
  count: number;
}

/**
 * Reads a feed from new to old and yields the rows of a time range that match. Requests a page only
 * when the caller has consumed the one before.
 */
export async function* walkPages(
  source: PageSource,
  options: WalkOptions,
  filter: Partial<WalkFilter> = {},
): AsyncGenerator<PageRow, void, void> {
  const left: RowsLeft = { count: options.limit ?? Number.POSITIVE_INFINITY };
  yield* matching(
    pagesInRange(source, options, () => left.count),
    left,
    filter,
  );
}

/** The rows of the batches that match, until none is left to take or too many pages have none. */
export async function* matching(
  batches: AsyncIterable<ListBatch>,
  left: RowsLeft,
  filter: Partial<WalkFilter>,
): AsyncGenerator<PageRow, void, void> {
  const { maxPages = Number.POSITIVE_INFINITY, onGiveUp, onPage } = filter;
  /** Consecutive pages without a matching row. */
  let unmatched = 0;
  for await (const batch of batches) {
    const { next, isMatched } = yield* takeFrom(batch, left, filter.matches);
    const { failure, rest } = batch;
    onPage?.({ next, isUnsure: failure !== undefined });
    // A limit that is reached does not make a list complete whose reading failed.
    if (failure !== undefined) throw failure.error;
    if (batch.untimed && (left.count === 0 || next === undefined)) throw batch.untimed;
    if (left.count === 0) return;
    unmatched = isMatched ? 0 : unmatched + 1;
    if (next === undefined || unmatched < maxPages) continue;
    if (rest !== undefined)
      onPage?.({ ...(yield* takeFrom(rest(), left, filter.matches)), isUnsure: true });
    return onGiveUp?.(unmatched);
  }
}

/** The rows of a batch that match, as many as are left to take; returns the place below them. */
function* takeFrom(
  { rows, placeAfter }: ListBatch,
  left: RowsLeft,
  matches: WalkFilter['matches'] = () => true,
): Generator<PageRow, { next: string | undefined; isMatched: boolean }, void> {
  let count = 0;
  let isMatched = false;
  for (const row of rows) {
    count++;
    if (!matches(row)) continue;
    isMatched = true;
    yield row;
    if (--left.count === 0) break;
  }
  return { next: placeAfter(count), isMatched };
}

/**
 * The rows of a feed in a time range, page by page, as far as the caller reads. `wanted` are those
 * that it still needs.
 */
export async function* pagesInRange(
  source: PageSource,
  options: WalkOptions,
  wanted: () => number,
): AsyncGenerator<PageBatch, void, void> {
  const range = new TimeRange(options);
  const expected = () => Math.min(wanted(), range.expected);
  const reading = { doubtsClock: isWithoutRange(options), ...options };
  for await (const { page, fresh, next } of readPages(source, reading, expected)) {
    const times = page.rows.map(({ at }) => at);
    range.see(times);
    const rows = fresh.flatMap((row) => range.take(row));
    const following = range.isOver ? undefined : next;
    yield {
      rows,
      next: following,
      placeAfter: (count) => (count < rows.length ? lastIdOf(rows.slice(0, count)) : following),
      isLast: range.isOver || !page.hasMore,
      times,
      expected: range.expected,
      untimed: range.untimed,
    };
    if (range.isOver) return;
    // Files, which cost nothing, have an end.
    if (source.stepCu > 0) range.checkTimes();
  }
}

/** Whether times only order the rows of a list, which a wrong clock does not change. */
export const isWithoutRange = ({ since, until }: Pick<WalkOptions, 'since' | 'until'>): boolean =>
  since === undefined && until === undefined;

/** The id of the last row that has one. */
export const lastIdOf = (rows: readonly PageRow[]): string | undefined =>
  rows.findLast(({ id }) => id !== null)?.id ?? undefined;

/**
 * The rows of a feed from `since` on and before `until`. Times may be missing or wrong: a row
 * without one belongs to its neighbors, and a single older row does not end the range.
 */
class TimeRange {
  readonly #since: number;
  readonly #until: number;
  readonly #density = new Density();
  /** How many more rows there are until `since`, if they are as dense as those that were read. */
  expected = Number.POSITIVE_INFINITY;
  /** Where the rows are older than `since`. */
  readonly #end = new Boundary();
  /**
   * Rows without a time below an older one. If a newer row follows, the time of the older one was
   * wrong.
   */
  #held: PageRow[] = [];
  /** From then on, rows without a time count as older than `until`; before, they are skipped. */
  #isBelowUntil: boolean;
  /** Whether a row had a time; undefined without rows. */
  #isTimed: boolean | undefined;
  /** Consecutive pages without a time. */
  #untimed = 0;

  constructor({ since, until }: WalkOptions) {
    this.#since = since ?? Number.NEGATIVE_INFINITY;
    this.#until = until ?? Number.POSITIVE_INFINITY;
    this.#isBelowUntil = until === undefined;
  }

  /** Whether the range ends here: several rows in a row are older than `since`. */
  get isOver(): boolean {
    return this.#end.isReached;
  }

  /** Looks at the times of a page before its rows are taken. */
  see(times: PageBatch['times']): void {
    this.#density.take(times);
    if (Number.isFinite(this.#since)) this.expected = this.#density.rowsDownTo(this.#since) + 1;
    const isTimed = times.some((time) => time !== null);
    this.#untimed = isTimed ? 0 : this.#untimed + 1;
    if (times.length > 0) this.#isTimed ||= isTimed;
  }

  /** The failure of a range that ends before any time was seen: it could hold all rows, or none. */
  get untimed(): Failure | undefined {
    if (this.#isTimed !== false) return undefined;
    if (Number.isFinite(this.#since)) return withoutTimes('--since');
    return this.#isBelowUntil ? undefined : withoutTimes('--until');
  }

  /** Fails if the pages have no times by which the beginning or the end of the range is found. */
  checkTimes(): void {
    if (this.#untimed < UNTIMED_PAGES) return;
    if (Number.isFinite(this.#since)) throw withoutTimes('--since');
    if (!this.#isBelowUntil) throw withoutTimes('--until');
  }

  /**
   * The rows that certainly belong to the range once this one was read: it, and those held before
   * it.
   */
  take(row: PageRow): PageRow[] {
    const { at } = row;
    if (at !== null) this.#end.take(at < this.#since);
    if (at === null && this.#end.run > 0) {
      this.#held.push(row);
      return [];
    }
    if (this.#end.run > 0) return [];
    const rows = [...this.#held, row];
    this.#held = [];
    return rows.filter((candidate) => this.#takeTime(candidate.at));
  }

  /** Takes the next time, and returns whether it is before `until`. */
  #takeTime(time: number | null): boolean {
    if (time === null) return this.#isBelowUntil;
    if (time < this.#until) this.#isBelowUntil = true;
    return time < this.#until;
  }
}

/** The failure of a range of posts of which none has a time. */
export const withoutTimes = (flag: string): Failure =>
  new Failure('answer', `no post has a usable time, so ${flag} cannot be applied`, {
    code: 'NO_TIMES',
    hint: 'check the clock of this machine, or use --limit instead; run "trdr doctor" to see how the service differs from its description',
  });
