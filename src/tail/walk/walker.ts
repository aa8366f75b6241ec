import { createPageSizer, type PageSizer } from '../../core/pages/page-size.ts';
import { type StopCode, stopText } from '../../core/pages/read-pages.ts';
import type { PageSource } from '../../core/pages/source.ts';
import { Job } from '../background-job.ts';
import { ceilingReached, hollowFeed } from '../failures.ts';
import type { KnownPosts } from '../known-posts.ts';
import type { TailNotice } from '../notice.ts';
import type { TailOptions, TailPorts } from '../ports.ts';
import type { PostFields } from '../post-row.ts';
import type { Mode } from '../spend/stream-or-poll.ts';
import type { Money } from '../spend/units-left.ts';
import type { Timing } from '../timing.ts';
import { Desk } from './desk.ts';
import { PageReader } from './page-reader.ts';
import { planWalk, type WalkPlan } from './schedule.ts';
import { type Depth, Walk, type Walked, walkReading } from './walk.ts';
import { RowStack } from './walk-rows.ts';

interface WalkerParts {
  readonly ports: Pick<TailPorts, 'clock' | 'random' | 'source' | 'own' | 'spool'>;
  readonly options: Pick<TailOptions, 'start' | 'lagMs' | 'waitForBudget' | 'firstTries'>;
  readonly timing: Timing;
  readonly known: KnownPosts;
  readonly money: Pick<Money, 'changed' | 'isGrantedOnce'>;
  readonly signal: AbortSignal;
  readonly wake: () => void;
  readonly notify: (notice: TailNotice) => void;
  readonly skip: (nameless: readonly PostFields[]) => void;
}

/** What decides when the next walk is due, besides the walks before it. */
export interface Connection {
  readonly mode: Mode;
  readonly isConnected: boolean;
  /** Since when there has been no connection, by the monotonic clock. */
  readonly downSince: number;
  readonly pollMs: number;
}

/** So many given-up walks in a row lead to a gap. */
const WALK_TRIES = 3;
/** A deep walk that reads more pages, or rows for more small ones, is made less often. */
const LONG_PAGES = 5;

const never = Number.NEGATIVE_INFINITY;

/**
 * Makes one walk after another, and repeats those that did not reach their goal. All times are
 * monotonic.
 */
export class Walker {
  readonly reader: PageReader;
  /** Whether the start of the run is known. */
  isPlaced: boolean;
  /** Whether the rows of a walk have been printed, so that the run is up to date. */
  isStarted = false;
  /** Whether deep walks read so much that they are made less often. */
  isLong = false;
  lastAt = never;
  /** The start of the last complete deep walk. */
  completeAt: number | undefined;
  /** The walk that verifies the feed at the end of the run. */
  finale: 'wanted' | 'walking' | 'done' | undefined;
  /**
   * The start of the last deep walk that was complete or given up, and of the last one that was
   * requested.
   */
  #verifiedAt: number | undefined;
  #gapAt = never;
  #printedAt = never;
  /** The earliest start of the next walk, after one that did not reach its goal. */
  #retryAt = never;
  #confirmed = 0;
  #failures = 0;
  /** Whether a deep walk is requested and has not begun, and whether the present one was. */
  #isWanted = false;
  #isUrgent = false;
  /** The pages that were read before the present walk. */
  #pagesBefore = 0;
  #stack: RowStack;
  #job: Job<Walked> | undefined;
  readonly #sizer: PageSizer;
  readonly #desk: Desk | undefined;
  readonly #parts: WalkerParts;

  constructor(parts: WalkerParts) {
    const { ports, options, timing, money, signal, notify, skip } = parts;
    const { kind } = options.start;
    this.#parts = parts;
    this.isPlaced = kind === 'since' || kind === 'position';
    this.#stack = new RowStack(ports.spool);
    this.#sizer = createPageSizer(ports.source.sizes);
    this.reader = new PageReader({
      clock: ports.clock,
      random: ports.random,
      timing,
      options,
      money,
      signal,
      notify,
      skip,
    });
    const { source, own } = ports;
    const over = (each: PageSource) => this.reader.over(each);
    this.#desk = own && new Desk(over(source), own.sources.map(over), own.mostPages);
  }

  /** Whether a deep walk was complete or given up. */
  get wasVerified(): boolean {
    return this.#verifiedAt !== undefined;
  }

  get isWalking(): boolean {
    return this.#job !== undefined;
  }

  get auditMs(): number {
    const { timing } = this.#parts;
    return this.isLong ? timing.longAuditMs : timing.auditMs;
  }

  /** Requests a deep walk. */
  want(): void {
    this.#isWanted = true;
  }

  /**
   * Requests the deep walk that closes the gap to the first frame of a connection, and those that
   * confirm it.
   */
  subscribed(): void {
    this.#isWanted = true;
    this.#confirmed = 0;
  }

  due(connection: Connection): number {
    return this.#isBusy ? Number.POSITIVE_INFINITY : this.#plan(connection).due;
  }

  /** Begins a walk that is due; returns whether there was one. */
  step(connection: Connection): boolean {
    if (this.#isBusy) return false;
    const { due, why } = this.#plan(connection);
    if (this.#now < due) return false;
    if (why === 'confirm') this.#confirmed++;
    if (why === 'final') this.finale = 'walking';
    this.#begin(why);
    return true;
  }

  /**
   * The walk that has ended and whose rows are to be printed; undefined if there is none, or if it
   * is repeated.
   */
  finished(): Walked | undefined {
    const outcome = this.#job?.outcome;
    if (!outcome) return undefined;
    this.#job = undefined;
    if ('error' in outcome) throw outcome.error;
    const walked = outcome.value;
    if (this.#isUrgent) this.#gapAt = walked.startedAt;
    // A request may have waited for hours.
    this.lastAt = Math.max(this.lastAt, walked.startedAt);
    // If the run ends before a walk has read a page, report only why.
    if (walked.cut === 'unpaid' && walked.pages === 0) throw walked.failure ?? ceilingReached();
    const { cut } = walked;
    if (cut !== undefined && cut !== 'unpaid' && !this.#acceptCut(walked)) {
      this.#repeat(walked.rows, cut);
      return undefined;
    }
    if (walked.depth === 'start') this.#parts.known.begin(walked.from, walked.skippedTo);
    this.isPlaced = true;
    return walked;
  }

  /** Called when all rows of a walk were printed. */
  printed({ depth, cut, startedAt, rows }: Walked): void {
    const isFirst = !this.isStarted;
    this.isStarted = true;
    this.#printedAt = this.#now;
    this.#failures = 0;
    if (this.finale === 'walking') this.finale = 'done';
    // If the run is already ending when its first walk completes, that walk is also the last one.
    if (isFirst && this.finale === 'wanted') this.finale = 'done';
    if (cut === 'unpaid' || depth === 'shallow') return;
    this.#verifiedAt = startedAt;
    if (cut === undefined) this.completeAt = startedAt;
    const { step } = this.#parts.ports.source.sizes;
    const pages = Math.max(rows / step, this.reader.pages - this.#pagesBefore);
    this.isLong = depth === 'deep' && pages > LONG_PAGES;
  }

  /** Resolves when the walk in progress has ended, and its rows are no longer stored. */
  async settled(): Promise<void> {
    await this.#job?.settled;
    await this.#stack.clear();
  }

  get #now(): number {
    return this.#parts.ports.clock.mono();
  }

  get #isBusy(): boolean {
    return this.isWalking || this.finale === 'walking' || this.finale === 'done';
  }

  #plan({ mode, isConnected, downSince, pollMs }: Connection): WalkPlan {
    const { options, timing } = this.#parts;
    const plan = planWalk(
      {
        isStarted: this.isStarted,
        isEnding: this.finale === 'wanted',
        isWanted: this.#isWanted,
        mode,
        isConnected,
        lastAt: this.lastAt,
        printedAt: this.#printedAt,
        gapAt: this.#gapAt,
        confirmed: this.#confirmed,
        downSince,
        pollMs,
        lagMs: options.lagMs,
        auditMs: this.auditMs,
      },
      timing,
    );
    return { ...plan, due: Math.max(plan.due, this.#retryAt) };
  }

  #begin(why: WalkPlan['why']): void {
    const { ports, options, timing, known, signal, wake } = this.#parts;
    const { start } = options;
    const isPoll = why === 'poll' || why === 'outage';
    this.#isUrgent = this.#isWanted || why === 'final';
    const mayBeShallow = isPoll && !this.#isUrgent;
    this.#isWanted = false;
    this.lastAt = this.#now;
    this.#stack = new RowStack(ports.spool);
    this.reader.begin();
    this.#pagesBefore = this.reader.pages;
    const reading = walkReading(ports, timing, known, signal);
    const walk = new Walk({
      clock: ports.clock,
      known,
      stack: this.#stack,
      source: this.#desk?.pages(known.verified, reading) ?? this.reader.over(ports.source),
      reading: { ...reading, sizer: this.#sizer },
      decideDepth: () => this.#depth(mayBeShallow),
      backfill: start.kind === 'backfill' ? start.rows : 0,
      isFirst: !this.isStarted,
    });
    this.#job = new Job(wake, () => walk.run());
  }

  /**
   * This is decided when the first page has arrived: a verification may have become due meanwhile.
   */
  #depth(mayBeShallow: boolean): Depth {
    if (!this.isPlaced) return 'start';
    if (!this.isStarted || !mayBeShallow || this.#verifiedAt === undefined) return 'deep';
    return this.#now - this.#verifiedAt < this.auditMs ? 'shallow' : 'deep';
  }

  /**
   * Counts a walk that was given up. Returns whether the rows of a walk are printed: also those of
   * the last of several that were given up.
   */
  #acceptCut({ depth, rows }: Walked): boolean {
    // A shallow walk gives nothing up: a deep one follows.
    if (depth === 'shallow') return false;
    this.#failures++;
    return this.#failures >= WALK_TRIES && rows > 0;
  }

  #repeat(rows: number, why: StopCode): void {
    const { ports, timing, notify } = this.#parts;
    if (rows === 0 && !this.isStarted && this.#failures >= this.reader.firstTries)
      throw hollowFeed();
    const mostMs = Math.min(timing.backoffMaxMs, timing.backoffMs * 2 ** this.#failures);
    const ms = ports.random() * mostMs;
    this.#retryAt = this.#now + ms;
    if (this.finale === 'walking') this.finale = 'wanted';
    else this.#isWanted = this.isStarted;
    notify({ kind: 'wait', ms, reason: stopText(why) });
  }
}
