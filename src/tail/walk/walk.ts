import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { Density } from '../../core/pages/page-size.ts';
import { Boundary, PROOF } from '../../core/pages/proof.ts';
import {
  type PageRead,
  type Reading,
  readPages,
  type StopCode,
  stopCodeOf,
} from '../../core/pages/read-pages.ts';
import type { AskedPage, FeedPage, PageSource } from '../../core/pages/source.ts';
import type { KnownPosts } from '../known-posts.ts';
import type { TailPorts } from '../ports.ts';
import type { TailRow } from '../post-row.ts';
import type { Timing } from '../timing.ts';
import { RunStart } from './run-start.ts';
import type { RowStack } from './walk-rows.ts';

/**
 * How far back a walk reads. `start`: until the start of a new run is known. `deep`: until three
 * posts in a row are verified, which verifies all newer ones. `shallow`: to the first post that
 * needs no delivery.
 */
export type Depth = 'start' | 'deep' | 'shallow';

/** A page of a walk. */
export interface WalkedPage extends FeedPage<string> {
  /**
   * When it was requested, by the monotonic clock and by that of this machine, if one request got
   * it.
   */
  readonly sentAt?: number;
  readonly sentTime?: number;
  /** Whether the source itself has proved that no older post is needed. */
  readonly isProven?: boolean;
}

/** The pages of a walk. */
export interface WalkSource extends Pick<PageSource, 'sizes'> {
  page(ask: AskedPage, signal: AbortSignal): Promise<WalkedPage>;
}

export interface Walked {
  readonly depth: Depth;
  /** Why the walk did not reach its goal; undefined if it did. */
  readonly cut: StopCode | 'unpaid' | undefined;
  readonly failure: Failure | undefined;
  /** The monotonic time at which the first page was requested. */
  readonly startedAt: number;
  /** The same by the clock of this machine. */
  readonly readAt: number;
  readonly pages: number;
  readonly rows: number;
  readonly oldest: number | null;
  /** The post times of the newest page. */
  readonly times: readonly (number | null)[];
  /** The posts by which the clock of the feed advanced, and by how many milliseconds it did. */
  readonly newer: number;
  readonly coveredMs: number;
  /**
   * Posts after this time are new, as a walk to the start has found; null if no post has a time.
   */
  readonly from: number | null;
  /** This is the newest post time of what a walk to the start has found and does not print. */
  readonly skippedTo: number | null;
  /** The rows that may need delivery. */
  readonly stack: RowStack;
}

interface WalkParts {
  readonly clock: Clock;
  readonly known: KnownPosts;
  readonly stack: RowStack;
  readonly source: WalkSource;
  readonly reading: Reading;
  /** Decides how far the walk reads, when its first page has arrived. */
  readonly decideDepth: () => Depth;
  /** The rows of the backfill. */
  readonly backfill: number;
  /** Whether no walk of this run has ended yet. */
  readonly isFirst: boolean;
}

type Read = PageRead<WalkedPage>;

/** So many known posts in a row end a walk of a feed without post times. */
const TIMELESS_ROWS = 20;
/** So many answers in a row must report the end of the feed. */
export const ENDS = 3;

/**
 * Whether the reported end of a feed is its end. Below a verified row it needs no proof. To ask
 * three times in each walk for posts where there never was one would triple its price.
 */
export const isBottom = ({ page, ends }: PageRead, isVerified: boolean, isUnseen: boolean) =>
  !page.hasMore && (isVerified || ends >= (isUnseen ? 1 : ENDS));

const TRIES = 5;

/** How a walk reads pages. The wait before a repetition depends on nothing but its number. */
export const walkReading = (
  { clock, random }: Pick<TailPorts, 'clock' | 'random'>,
  { backoffMs, backoffMaxMs }: Pick<Timing, 'backoffMs' | 'backoffMaxMs'>,
  known: Pick<KnownPosts, 'latest'>,
  signal: AbortSignal,
): Reading => ({
  clock: { now: () => known.latest(clock.now()), sleep: clock.sleep },
  signal,
  tries: TRIES,
  pauseMs: (repetition) => random() * Math.min(backoffMaxMs, backoffMs * 2 ** (repetition - 1)),
  endProof: Number.POSITIVE_INFINITY,
  doubtsClock: true,
});

/** Reads pages from the newest one down, and keeps the rows that need delivery on a stack. */
export class Walk {
  readonly #parts: WalkParts;
  readonly #start: RunStart;
  readonly #sigmaBefore: number | null;
  #depth: Depth | undefined;
  #startedAt: number;
  #readAt: number;
  #pages = 0;
  #rows = 0;
  #newer = 0;
  #oldest: number | null = null;
  #times: readonly (number | null)[] = [];
  /** Where the rows are verified. */
  readonly #verified = new Boundary();
  /** How many known rows were read in a row. */
  #knownRun = 0;
  #isAnyKnown = false;
  readonly #density = new Density();
  /** How many rows are left to read, if they are as dense as those that were read. */
  #expected = 0;

  constructor(parts: WalkParts) {
    const { clock, known, backfill } = parts;
    this.#parts = parts;
    this.#start = new RunStart(backfill);
    this.#sigmaBefore = known.sigma;
    this.#startedAt = clock.mono();
    this.#readAt = clock.now();
  }

  async run(): Promise<Walked> {
    const { source, reading } = this.#parts;
    const { sizes } = source;
    const noting = { page: (ask: AskedPage) => this.#request(ask), sizes };
    try {
      for await (const page of readPages(noting, reading, () => this.#expected)) {
        if (await this.#takePage(page)) break;
      }
      return this.#walked(undefined);
    } catch (error) {
      const stop = stopCodeOf(error);
      if (stop) return this.#walked(stop);
      if (error instanceof Failure && (error.kind === 'limit' || error.kind === 'quota'))
        return this.#walked('unpaid', error);
      throw error;
    }
  }

  async #request(ask: AskedPage): Promise<WalkedPage> {
    const { source, reading } = this.#parts;
    const page = await source.page(ask, reading.signal);
    const { sentAt = this.#startedAt, sentTime = this.#readAt } = page;
    if (this.#rows === 0) {
      this.#startedAt = sentAt;
      this.#readAt = sentTime;
    }
    this.#pages++;
    return page;
  }

  /** Takes a page, and returns whether it is the last one. */
  async #takePage(read: Read): Promise<boolean> {
    const { known, stack, decideDepth } = this.#parts;
    this.#depth ??= decideDepth();
    this.#hear(read);
    const wanted: TailRow[] = [];
    let isDone = false;
    for (const row of read.fresh) {
      // A post without a time that stands below verified ones is as old as they are.
      if (row.at !== null || this.#verified.run < PROOF) wanted.push(row);
      if (this.#take(row)) isDone = true;
    }
    // Whatever is there before the run begins may still be wanted for the backfill.
    const isStart = this.#depth === 'start';
    await stack.push(wanted.filter((row) => isStart || !known.isDone(row)));
    if (isDone || this.#isDeepEnough() || this.#isBottom(read)) return true;
    this.#density.take(read.fresh.map(({ at }) => at));
    // Below a reported end there is nothing, if it is one.
    this.#expected = read.page.hasMore ? this.#rowsLeft() : 0;
    return false;
  }

  /** Learns the clock of the feed from the first page with post times. */
  #hear({ fresh }: Read): void {
    if (this.#times.some((at) => at !== null)) return;
    this.#times = fresh.map(({ at }) => at);
    if (this.#depth !== 'start') this.#parts.known.hear(this.#times);
  }

  /** Counts a row, and returns whether it ends the walk. */
  #take(row: TailRow): boolean {
    const { known, backfill } = this.#parts;
    this.#rows++;
    const isDone = known.isDone(row);
    this.#isAnyKnown ||= isDone;
    this.#knownRun = isDone ? this.#knownRun + 1 : 0;
    if (this.#isNewer(row, isDone)) this.#newer++;
    if (this.#depth === 'start') {
      // Whatever is there before the run begins is known, except for the backfill.
      if (this.#rows > backfill) known.add(row);
      this.#start.take(row.at);
    }
    if (row.at === null) return false;
    this.#oldest = Math.min(this.#oldest ?? row.at, row.at);
    if (known.verified !== null) this.#verified.take(row.at <= known.verified);
    return (this.#depth === 'shallow' && isDone) || this.#verified.isReached;
  }

  /**
   * Whether the row is one of those by which the clock of the feed advanced since the last walk.
   */
  #isNewer({ at }: TailRow, isDone: boolean): boolean {
    const [before, after] = [this.#sigmaBefore, this.#parts.known.sigma];
    if (at === null) return !isDone;
    return before !== null && after !== null && at > before && at <= after;
  }

  #isDeepEnough(): boolean {
    if (this.#depth === 'start') return this.#start.isFound;
    const { verified, lowest } = this.#parts.known;
    const isTimeless = verified === null && lowest === null && this.#oldest === null;
    return isTimeless && this.#knownRun >= TIMELESS_ROWS;
  }

  /** Whether the reported end of the feed is the end of the feed. */
  #isBottom(read: Read): boolean {
    const { known, isFirst } = this.#parts;
    const isVerified = read.page.isProven === true || this.#verified.run > 0;
    const isUnseen = this.#rows === 0 && !isFirst && known.isUnseen;
    const isDeep = this.#depth === 'start' || known.mayEndAt(this.#oldest, this.#isAnyKnown);
    return isBottom(read, isVerified, isUnseen) && (isVerified || isDeep);
  }

  #rowsLeft(): number {
    const { backfill, known } = this.#parts;
    const { verified } = known;
    if (this.#depth === 'start' || verified === null) return backfill - this.#rows;
    // What the walk before has read ends a shallow one.
    const isShallow = this.#depth === 'shallow' && this.#sigmaBefore !== null;
    return this.#density.rowsDownTo(isShallow ? Math.max(verified, this.#sigmaBefore) : verified);
  }

  #walked(cut: Walked['cut'], failure?: Failure): Walked {
    const { decideDepth, known, stack } = this.#parts;
    const { sigma } = known;
    return {
      depth: this.#depth ?? decideDepth(),
      cut,
      failure,
      startedAt: this.#startedAt,
      readAt: this.#readAt,
      pages: this.#pages,
      rows: this.#rows,
      oldest: this.#oldest,
      times: this.#times,
      newer: this.#newer,
      coveredMs: (sigma ?? 0) - (this.#sigmaBefore ?? sigma ?? 0),
      from: this.#start.from,
      skippedTo: this.#start.skippedTo,
      stack,
    };
  }
}
