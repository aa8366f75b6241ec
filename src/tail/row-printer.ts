import type { Clock } from '../base/clock.ts';
import { withoutFutureTime } from '../core/pages/post.ts';
import type { KnownPosts } from './known-posts.ts';
import type { EndReason, TailNotice } from './notice.ts';
import type { FeedOutput } from './output/feed-output.ts';
import type { Link, TailOptions } from './ports.ts';
import type { PostFields, TailRow } from './post-row.ts';
import { type ReadFrame, readFrame } from './socket/frame.ts';
import type { Session } from './socket/session.ts';
import { openLink } from './state.ts';
import type { Timing } from './timing.ts';
import type { Walked } from './walk/walk.ts';

interface PrinterParts {
  readonly clock: Clock;
  readonly options: Pick<TailOptions, 'start' | 'filter' | 'scope' | 'carries'>;
  readonly timing: Pick<Timing, 'blockedMs'>;
  readonly known: KnownPosts;
  readonly output: FeedOutput;
  readonly session: Session;
  readonly skip: (nameless: readonly PostFields[]) => void;
  readonly notify: (notice: TailNotice) => void;
}

/** A walk whose rows are being printed. */
export interface WalkPrint {
  readonly walked: Walked;
  /** The rows that are left. */
  left: number;
  printed: number;
  /** The rows that were taken from the stack while no more of them might be printed. */
  rest: readonly TailRow[];
}

/** What a step has done: it may have ended the run, or printed the last row of a walk. */
export type Printed =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'something' }
  | { readonly kind: 'ended'; readonly reason: EndReason }
  | { readonly kind: 'walkPrinted'; readonly walkPrint: WalkPrint };

const NOTHING: Printed = { kind: 'nothing' };
const SOMETHING: Printed = { kind: 'something' };

/** The maximum number of frames that are read from the queue at a time. */
const FRAMES = 512;

/** Prints rows that need delivery: of a walk, oldest first, and of frames as they arrive. */
export class RowPrinter {
  walkPrint: WalkPrint | undefined;
  filled = 0;
  late = 0;
  /** Since when the output has accepted no rows, by the monotonic clock. */
  blockedAt: number | undefined;
  /** Whether the last rows of --count are on their way. */
  #isDrained = false;
  readonly #parts: PrinterParts;

  constructor(parts: PrinterParts) {
    this.#parts = parts;
  }

  begin(walked: Walked): void {
    this.walkPrint = { walked, left: walked.stack.size, printed: 0, rest: [] };
  }

  /** When `step` must be called again even if no part wakes the loop. */
  get due(): number {
    const { timing, output, session } = this.#parts;
    const isCharged = this.blockedAt !== undefined && session.openedAt !== undefined;
    return Math.min(
      isCharged ? (this.blockedAt ?? 0) + timing.blockedMs : Number.POSITIVE_INFINITY,
      output.due,
    );
  }

  /**
   * Prints the next rows: of a finished walk first, then of frames. Before the start of the run is
   * known, there are none.
   */
  async step(isPlaced: boolean): Promise<Printed> {
    const { output, session } = this.#parts;
    if (!output.step()) {
      this.#closeIfBlocked();
      return NOTHING;
    }
    this.blockedAt = undefined;
    if (output.closed) return { kind: 'ended', reason: 'reader' };
    if (output.left <= 0) {
      if (this.#isDrained || output.isAcknowledged) return { kind: 'ended', reason: 'count' };
      // Wait until the operating system has the last rows of --count, but pay for nothing
      // meanwhile.
      this.#isDrained = true;
      session.close();
      output.drain();
      return SOMETHING;
    }
    // Print nothing before the start of the run is on disk: after a crash, a run without it would
    // start at the newest post.
    if (!output.isSafe && (isPlaced || this.walkPrint)) {
      if (isPlaced) output.saveFirst();
      return NOTHING;
    }
    if (this.walkPrint) return await this.#fill(this.walkPrint);
    return isPlaced && this.#printFrames() ? SOMETHING : NOTHING;
  }

  /**
   * Closes the WebSocket when the output has accepted no rows for long: the connection is charged
   * by the minute.
   */
  #closeIfBlocked(): void {
    const { clock, timing, session } = this.#parts;
    this.blockedAt ??= clock.mono();
    if (session.openedAt !== undefined && clock.mono() >= this.blockedAt + timing.blockedMs)
      session.drop('blocked', 'the output accepts no rows');
  }

  async #fill(walkPrint: WalkPrint): Promise<Printed> {
    const { known, output, session, options } = this.#parts;
    const { walked } = walkPrint;
    const rows = walkPrint.rest.length > 0 ? walkPrint.rest : await walked.stack.take();
    const out: TailRow[] = [];
    const earlier: TailRow[] = [];
    walkPrint.rest = [];
    for (const [index, row] of rows.entries()) {
      if (output.left <= 0) {
        walkPrint.rest = rows.slice(index);
        break;
      }
      walkPrint.left--;
      if (walked.depth === 'start') this.#printPast(row, walkPrint.left, out, earlier);
      else if (this.#takeOfPage(row)) {
        out.push(row);
        if (options.carries?.(row) ?? true) session.missed(row.at);
      }
    }
    walkPrint.printed += out.length;
    output.push(earlier, false);
    output.push(out);
    if (output.left <= 0) {
      this.walkPrint = undefined;
      output.saveSoon();
      return SOMETHING;
    }
    // A stage has passed on fewer rows than it might have.
    if (walkPrint.rest.length > 0) return SOMETHING;
    // While older rows come first, the feed is verified up to just before the oldest row that is
    // left.
    if (walked.cut === undefined && walked.depth !== 'shallow') known.provenTo(walked.stack.lowest);
    if (rows.length > 0) return SOMETHING;
    this.walkPrint = undefined;
    output.saveSoon();
    return { kind: 'walkPrinted', walkPrint };
  }

  /**
   * Prints a row that was there before the run began, if it is one of the newest ones that are
   * still wanted.
   */
  #printPast(row: TailRow, left: number, out: TailRow[], earlier: TailRow[]): void {
    const { start } = this.#parts.options;
    const isBackfill = start.kind === 'backfill' && left < start.rows;
    const isRecent = start.kind === 'now' && left < (start.recent ?? 0);
    const isWanted = this.#isWanted(row);
    if (isBackfill && (row.at === null || isWanted)) this.#parts.known.add(row);
    if (!isWanted) return;
    if (isBackfill) {
      out.push(row);
      this.#parts.output.takeOne();
    } else if (isRecent) earlier.push(row);
  }

  /** Takes a row of a page, and returns whether it is printed. */
  #takeOfPage(row: TailRow): boolean {
    if (this.#parts.known.isDone(row)) return false;
    return this.#take(row);
  }

  /** Takes a row that is not done, and returns whether it passes the filter. */
  #take(row: TailRow): boolean {
    const isWanted = this.#isWanted(row);
    if (isWanted || row.at === null) this.#parts.known.add(row);
    if (isWanted) this.#parts.output.takeOne();
    return isWanted;
  }

  #isWanted(row: TailRow): boolean {
    return this.#parts.options.filter?.(row) ?? true;
  }

  #printFrames(): boolean {
    const link = openLink(this.#parts.session.state);
    if (!link) return false;
    return this.#readFrames(link) > 0;
  }

  #readFrames(link: Link): number {
    const { session, options, clock, output } = this.#parts;
    const out: TailRow[] = [];
    const now = this.#parts.known.latest(clock.now());
    let taken = 0;
    while (taken < FRAMES && output.left > 0) {
      const raw = link.next();
      if (!raw) break;
      taken++;
      const frame = readFrame(raw);
      session.heard(frame);
      if (frame.kind !== 'row') this.#report(frame);
      else if (options.scope?.(frame.row) ?? true) {
        const row = withoutFutureTime(frame.row, now);
        if (this.#takeOfFrame(row)) out.push(row);
      }
    }
    output.push(out);
    return taken;
  }

  /** Takes the row of a frame, and returns whether it is printed. */
  #takeOfFrame(row: TailRow): boolean {
    const { known } = this.#parts;
    if (known.isLate(row)) {
      if (!this.#isWanted(row)) return false;
      this.late++;
      this.#parts.output.takeOne();
      known.addLate(row);
      return true;
    }
    // With too many ids in memory, the post is left to the next walk.
    if (known.isDone(row) || known.isFull) return false;
    return this.#take(row);
  }

  #report(frame: ReadFrame): void {
    const { skip, notify } = this.#parts;
    if (frame.kind === 'nameless') skip([frame.record]);
    if (frame.kind === 'unreadable') notify({ kind: 'frame', text: frame.why });
    if (frame.kind === 'error') notify({ kind: 'frame', text: frame.text });
  }
}
