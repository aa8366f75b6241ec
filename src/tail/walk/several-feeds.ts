import { Failure } from '../../base/failure.ts';
import { ordered } from '../../core/lookup/ordered.ts';
import { rowsDownTo } from '../../core/pages/page-size.ts';
import { type PageRow, usableRows } from '../../core/pages/post.ts';
import { boundBelow, PROOF } from '../../core/pages/proof.ts';
import type { AskedPage, FeedPage, PageSource } from '../../core/pages/source.ts';
import { lastIdOf } from '../../core/pages/walk.ts';

/** So many answers in a row must report the end of a feed. */
const ENDS = 3;

/**
 * The pages of a feed of which only the posts of some authors are wanted. Each walk begins with the
 * newest page of the whole feed, by which the clock of the feed is known before anything else is
 * read. Where that feed would take more pages down to what is verified than the authors have feeds,
 * the walk continues with their own, merged by time.
 */
export class SeveralFeeds implements PageSource {
  readonly sizes: PageSource['sizes'];
  readonly stepCu: number;
  readonly #whole: PageSource;
  readonly #lanes: readonly FeedLane[];
  readonly #mostPages: number;
  #way: 'whole' | 'own' = 'whole';
  /** The ids of the posts that the walk has read of the whole feed. */
  #seen = new Set<string>();
  /**
   * Posts after this time that are not in those pages have appeared since, and are left to the next
   * walk.
   */
  #readTo = Number.POSITIVE_INFINITY;
  readonly #now: () => number;

  /** If the whole feed would take more than `mostPages` pages, the own feeds are read. */
  constructor(
    whole: PageSource,
    own: readonly PageSource[],
    now: () => number,
    mostPages = own.length,
  ) {
    this.sizes = whole.sizes;
    this.stepCu = whole.stepCu;
    this.#whole = whole;
    this.#lanes = own.map((source) => new FeedLane(source, now));
    this.#mostPages = mostPages;
    this.#now = now;
  }

  begin(): void {
    this.#way = 'whole';
    this.#seen = new Set();
    this.#readTo = Number.POSITIVE_INFINITY;
    for (const lane of this.#lanes) lane.begin();
  }

  async page(ask: AskedPage, signal: AbortSignal): Promise<FeedPage> {
    const { verified = null } = ask;
    if (this.#way === 'own') return await this.#merged(verified, signal);
    const page = await this.#whole.page(ask, signal);
    for (const { id } of page.rows) if (id !== null) this.#seen.add(id);
    if (verified === null || !page.hasMore) return page;
    const times = usableRows(page.rows, this.#now()).flatMap(({ at }) => at ?? []);
    this.#readTo = boundBelow(times) ?? this.#readTo;
    if (rowsDownTo(verified, times) / this.sizes.step > this.#mostPages) this.#way = 'own';
    return page;
  }

  /** The next rows of which it is certain that no page that is not read yet has a newer one. */
  async #merged(verified: number | null, signal: AbortSignal): Promise<FeedPage> {
    for (;;) {
      const open = this.#lanes.filter(({ isDone }) => !isDone);
      const bound = Math.max(...open.map((lane) => lane.bound));
      const rows = [
        ...this.#takeAfter(bound),
        ...this.#lanes.flatMap((lane) => lane.takeNameless()),
      ];
      const isProven = open.length === 0;
      if (rows.length > 0 || isProven)
        return { rows, hasMore: !isProven, nextBefore: lastIdOf(rows) ?? null, isProven };
      // Those that have reported their end are asked together: each of them needs several answers.
      const due = open.filter((lane) => lane.bound === bound || lane.isEnding);
      const fill = (lane: FeedLane) => lane.fill(verified, signal);
      let isFurther = false;
      for await (const each of ordered(due, fill, { signal })) isFurther ||= each;
      // The walk asks again after a pause.
      if (!isFurther) return { rows: [], hasMore: true, nextBefore: null };
    }
  }

  #takeAfter(bound: number): readonly PageRow[] {
    return this.#lanes
      .flatMap((lane) => lane.takeAfter(bound))
      .sort((one, other) => other.place - one.place)
      .map(({ row }) => row)
      .filter(({ id, at }) => !this.#seen.has(id ?? '') && (at === null || at <= this.#readTo));
  }
}

interface PlacedRow {
  readonly row: PageRow;
  /** The time by which the row is merged: its own may be missing or wrong. */
  readonly place: number;
}

/** One of the feeds that are merged, as far as a walk has read it. */
class FeedLane {
  isDone = false;
  /** Whether the feed has reported its end, which is not believed yet. */
  isEnding = false;
  /** No row that is not read yet is newer. */
  bound = Number.POSITIVE_INFINITY;
  #nameless: PageRow[] = [];
  #rows: PlacedRow[] = [];
  #ids = new Set<string>();
  /** Where the next page begins: the first of these that the service accepts. */
  #cursors: readonly string[] = [];
  /** How many answers in a row had no new row and reported the end. */
  #ends = 0;
  #isVerified = false;
  /** Whether any walk has seen a post of the feed, and whether one has found that it has none. */
  #hasPosts = false;
  #wasEmpty = false;
  readonly #source: PageSource;

  readonly #now: () => number;

  constructor(source: PageSource, now: () => number) {
    this.#source = source;
    this.#now = now;
  }

  begin(): void {
    this.isDone = false;
    this.isEnding = false;
    this.bound = Number.POSITIVE_INFINITY;
    this.#nameless = [];
    this.#rows = [];
    this.#ids = new Set();
    this.#cursors = [];
    this.#ends = 0;
    this.#isVerified = false;
  }

  /** Reads the next page; returns whether this led further. */
  async fill(verified: number | null, signal: AbortSignal): Promise<boolean> {
    const { rows, hasMore, nextBefore } = await this.#request(signal);
    this.#nameless.push(...rows.filter(({ id }) => id === null));
    this.isEnding = !hasMore;
    const fresh = usableRows(rows, this.#now()).filter(
      ({ id }) => id !== null && !this.#ids.has(id),
    );
    if (fresh.length === 0) return !hasMore && this.#takeEnd();
    for (const { id } of fresh) this.#ids.add(id ?? '');
    this.#hasPosts = true;
    this.#ends = 0;
    this.#rows = placed([...this.#rows.map(({ row }) => row), ...fresh]);
    const times = fresh.flatMap(({ at }) => at ?? []);
    const last = times.at(-1);
    this.bound = Math.min(this.bound, boundBelow(times) ?? this.bound);
    if (last !== undefined) this.#isVerified = verified !== null && last <= verified;
    const ids = rows.map(({ id }) => id).reverse();
    const cursors = new Set([nextBefore, ...ids].filter((id) => id !== null));
    this.#cursors = [...cursors].slice(0, PROOF + 1);
    // Below a verified row, the end of the feed needs no proof.
    this.isDone = !hasMore && this.#isVerified;
    return true;
  }

  takeAfter(bound: number): readonly PlacedRow[] {
    const end = this.#rows.findIndex(({ place }) => place <= bound);
    const isAll = end === -1 || bound === Number.NEGATIVE_INFINITY;
    return this.#rows.splice(0, isAll ? this.#rows.length : end);
  }

  takeNameless(): readonly PageRow[] {
    return this.#nameless.splice(0);
  }

  /** Counts an answer that reports the end, and returns whether it is believed. */
  #takeEnd(): boolean {
    this.#ends++;
    // To ask three times in each walk for the posts of somebody who never posted would triple its
    // price.
    const isEmpty = this.#wasEmpty && !this.#hasPosts;
    this.isDone = this.#isVerified || this.#ends >= (isEmpty ? 1 : ENDS);
    if (this.isDone && !this.#hasPosts) this.#wasEmpty = true;
    return this.isDone;
  }

  /**
   * The service rejects the id of a post that was deleted meanwhile; then ids of newer posts are
   * tried.
   */
  async #request(signal: AbortSignal): Promise<FeedPage> {
    const limit = this.#source.sizes.step;
    for (;;) {
      const [before] = this.#cursors;
      try {
        return await this.#source.page(
          before === undefined ? { limit } : { before, limit },
          signal,
        );
      } catch (error) {
        const isRejected = error instanceof Failure && error.status === 400;
        if (!isRejected || error.kind !== 'usage' || before === undefined) throw error;
        if (this.#cursors.length === 1) throw cursorLost(error);
        this.#cursors = this.#cursors.slice(1);
      }
    }
  }
}

/** A row whose time is missing, or older than that of rows below it, gets the place of those. */
function placed(rows: readonly PageRow[]): PlacedRow[] {
  let newest = Number.NEGATIVE_INFINITY;
  return rows
    .toReversed()
    .map((row) => {
      newest = Math.max(newest, row.at ?? newest);
      return { row, place: newest };
    })
    .reverse();
}

const cursorLost = (cause: Failure) =>
  new Failure('answer', 'the service rejects the ids of the last posts as cursors', {
    code: 'CURSOR_LOST',
    retryable: true,
    cause,
  });
