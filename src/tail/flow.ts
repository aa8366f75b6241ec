import type { Gap } from './notice.ts';
import { createHeldRows } from './output/held-rows.ts';
import type { TailWriter } from './output/writer.ts';
import type { Link } from './ports.ts';
import type { PostMark, TailRow } from './row.ts';
import type { Seen } from './seen/seen.ts';
import { createVerifiedRange, type UnverifiedRange } from './seen/verified-range.ts';
import { isBelow, steadyTime, type Watermark, watermarkOf } from './seen/watermark.ts';
import { readFrame } from './socket/frame.ts';
import type { ReadFrame } from './socket/other-frame.ts';
import { createMargin, type Margin } from './spend/pace.ts';
import type { Timing } from './timing.ts';
import { createBounds, type Depth, type StartPoint } from './walk/bounds.ts';
import { countLateness, type Lateness } from './walk/lateness.ts';
import type { RowStack } from './walk/row-stack.ts';
import type { WalkBounds, Walked } from './walk/walk.ts';

/** What a walk found. */
interface Found extends Lateness {
  readonly walked: Walked;
  readonly depth: Depth;
  /** The number of rows that were printed. */
  rows: number;
  /** The number of new rows, including those that the filter removed. */
  fresh: number;
}

/** A finished walk whose rows are being printed. */
interface Fill extends Found {
  readonly stack: RowStack;
  readonly continues: boolean;
  /**
   * The post time of the post that was the newest verified one when the walk ended. Null if that post has no
   * time, undefined if no post was verified by then.
   */
  readonly before: number | null | undefined;
}

/** The result of a printed walk. */
export interface Filled extends Readonly<Found> {
  readonly gap: Gap | undefined;
}

/** Passes all rows to the writer, and tracks which part of the feed is complete and what was printed. */
export interface Flow {
  readonly watermark: Watermark | undefined;
  /** The monotonic time at which the walk that last verified the feed started. */
  readonly verifiedAt: number | undefined;
  readonly filling: boolean;
  readonly full: boolean;
  /**
   * Whether frames wait for a walk, because they would be the first lines of a new output file: see
   * `createHeldRows`.
   */
  readonly heldBack: boolean;
  /** Whether the row with this id came from a frame and still waits to be printed. */
  isHeld(id: string): boolean;
  readonly margin: Margin;
  readonly seen: Seen;
  route(depth: Depth): WalkBounds;
  /** Accepts a finished walk, whose rows `fillStep` then prints. */
  fill(walked: Walked, stack: RowStack, depth: Depth, continues: boolean): void;
  /** Prints the next rows of a walk; returns the result after the last rows. */
  fillStep(): Promise<Filled | undefined>;
  /** Prints the posts of queued frames and returns how many frames were read. Passes other content to `other`. */
  frames(link: Link, other: (frame: Exclude<ReadFrame, { kind: 'row' }>) => void): number;
  /** Prints the frames that waited for a walk. */
  release(): void;
  /** Prints all waiting rows at the end of a run. */
  releaseAll(): void;
  /** The posts that a run ended by a failure has not read; undefined if the run has never read the feed. */
  unread(failure: string): Gap | undefined;
  /**
   * A range that can no longer be verified, because memory for the ids of its posts was exhausted. Each range
   * is returned once.
   */
  takeUnverified(): UnverifiedRange | undefined;
}

/** The maximum number of frames that are read from the queue at a time. */
const FRAMES = 512;

interface FlowWorld {
  readonly start: StartPoint;
  readonly timing: Timing;
  readonly writer: TailWriter;
  readonly seen: Seen;
  /** Whether the post of a frame also appears in the pages that are read. */
  readonly scope: (row: TailRow) => boolean;
  readonly filter: (row: TailRow) => boolean;
  /** Whether the WebSocket delivers a post that appears in pages. */
  readonly carries: (row: TailRow) => boolean;
  /** The maximum number of rows to print. */
  readonly count: number;
  /** Whether the position of this run is saved. */
  readonly saves: boolean;
  /** Whether a later run can resume only from the lines of the output file. */
  readonly byFile: boolean;
}

export function createFlow(world: FlowWorld): Flow {
  const { seen, writer, start, filter, scope, carries } = world;
  const margin = createMargin(world.timing.marginMs, world.timing.leastMarginMs, world.timing.auditMs);
  let verifiedAt: number | undefined;
  let left = world.count;
  const resume = 'known' in start ? start : undefined;
  /**
   * Whether this run has resumed and its first walk has not ended. A later run would then resume at the same
   * position.
   */
  let isAtResume = resume !== undefined;
  let fill: Fill | undefined;
  /** The newest post of a walk that ended the run, and whose gap was reported. */
  let endTop: PostMark | null | undefined;
  const held = createHeldRows(
    writer,
    world.byFile ? { lines: resume?.known.length ?? 0, isNew: !resume } : undefined,
  );
  if (resume) {
    seen.forget(resume.floor);
    for (const [id, at] of resume.known) seen.add(id, at);
    for (const [id, at] of resume.lines ?? []) {
      if (at === null || at >= resume.floor) seen.add(id, at);
      else seen.recall(id);
    }
  }
  const verified = createVerifiedRange(seen, margin, resume?.watermark);
  const routes = createBounds({ start, seen, margin, watermark: () => verified.watermark });

  /**
   * Remembers a row of a page, unless it is older than the floor. Returns whether to print the row: only if it is
   * new and passes the filter.
   */
  const accept = (row: TailRow): boolean => {
    if (row.at !== null && row.at < seen.floor) return false;
    return seen.add(row.id, row.at) && filter(row);
  };

  /**
   * When to print the row of a frame: `now`, or `late` if it is older than the floor and `held` does not accept
   * such rows yet. Undefined if the row is not printed, because its id is not new or the filter removes it.
   */
  const acceptFrame = (row: TailRow): 'now' | 'late' | undefined => {
    const late = row.at !== null && row.at < seen.floor;
    if (!seen.add(row.id, row.at) || !filter(row)) return undefined;
    return late && !held.acceptsLate ? 'late' : 'now';
  };

  /** Whether the output file has lines. */
  const hasLines = () => writer.rows + writer.earlier > 0 || (resume?.known.length ?? 0) > 0;

  /** The post time from which late posts may be missing; null if it is not known. */
  const lateFrom = () => (verified.watermark && Number.isFinite(routes.low()) ? routes.low() : null);

  const gapOf = ({ walked, depth, continues }: Fill): Gap | undefined => {
    if (!walked.cut || !walked.reached || (depth === 'shallow' && continues)) return undefined;
    const top = verified.watermark?.top ?? null;
    // If the walk reached posts that are already verified, only late posts can be missing.
    const from = isBelow(walked.reached, top) ? null : top;
    return {
      why: walked.cut,
      from,
      lateFrom: lateFrom(),
      to: walked.reached,
      // A run that resumes from the lines of a file does not look below the newest ones.
      open: !continues && world.saves && !world.byFile,
    };
  };

  const finish = (fill: Fill): Gap | undefined => {
    const gap = gapOf(fill);
    const { walked } = fill;
    if (gap && !fill.continues) endTop = watermarkOf(walked.first).top;
    if (fill.depth === 'shallow' || (walked.cut && !fill.continues)) return gap;
    if (walked.first.length > 0 || !verified.watermark) verified.moveTo(watermarkOf(walked.first));
    verifiedAt = walked.startedAt;
    return gap;
  };

  /**
   * Raises the watermark to a row of a complete walk. The rows are printed oldest first, so the feed is
   * verified up to each printed row.
   */
  const moveUp = (fill: Fill, last: TailRow) => {
    const { walked } = fill;
    const steady = steadyTime(walked.first.map((row) => row.at));
    if (walked.cut || fill.depth === 'shallow' || last.at === null || steady === null) return;
    if (last.at >= steady || last.at <= (verified.watermark?.base ?? Number.NEGATIVE_INFINITY)) return;
    verified.moveTo({ top: { id: last.id, at: last.at }, base: last.at });
  };

  return {
    get watermark() {
      return verified.watermark;
    },
    get verifiedAt() {
      return verifiedAt;
    },
    get filling() {
      return fill !== undefined;
    },
    get full() {
      return left <= 0 && held.waiting === 0;
    },
    get heldBack() {
      return held.waiting > 0;
    },
    isHeld: held.has,
    margin,
    seen,
    route: routes.to,
    fill(walked, stack, depth, continues) {
      const before = verified.watermark?.top?.at;
      isAtResume = false;
      fill = { walked, stack, depth, continues, before, rows: 0, fresh: 0, late: 0, worstMs: 0, missed: 0 };
      if (depth === 'start') {
        const before = routes.begin(walked);
        verified.noteFloor();
        const recent = start.kind === 'now' ? (start.recent ?? 0) : 0;
        // These rows are printed but not counted, because they were posted before the start of the run.
        if (recent > 0) writer.push(before.filter(filter).slice(0, recent).reverse(), false);
      }
    },
    async fillStep() {
      const own = fill;
      if (!own) return undefined;
      const rows = await own.stack.take();
      const out: TailRow[] = [];
      for (const row of rows) {
        if (left <= 0) break;
        const known = seen.has(row.id);
        if (accept(row)) {
          out.push(row);
          left--;
        } else if (known) continue;
        own.fresh++;
        countLateness(own, row, own.walked, own.before, carries);
      }
      own.rows += out.length;
      verified.noteForgotten();
      const last = rows.at(-1);
      if (last && left > 0) moveUp(own, last);
      held.printPage(out);
      if (last && left > 0) return undefined;
      const gap = left > 0 ? finish(own) : undefined;
      fill = undefined;
      const { walked, depth, rows: count, fresh, late, worstMs, missed } = own;
      return { walked, depth, rows: count, fresh, late, worstMs, missed, gap };
    },
    frames(link, other) {
      const out: TailRow[] = [];
      const late: TailRow[] = [];
      let taken = 0;
      while (taken < FRAMES && left > 0) {
        const raw = link.next();
        if (!raw) break;
        taken++;
        for (const frame of readFrame(raw)) {
          if (frame.kind !== 'row') other(frame);
          const wanted = frame.kind === 'row' && left > 0 && scope(frame.row);
          const when = wanted ? acceptFrame(frame.row) : undefined;
          if (frame.kind !== 'row' || !when) continue;
          (when === 'late' ? late : out).push(frame.row);
          left--;
        }
      }
      held.printFrames(out, late);
      verified.noteForgotten();
      return taken;
    },
    release: held.release,
    releaseAll: held.releaseAll,
    unread(failure) {
      const from = endTop ?? verified.watermark?.top;
      if (from === undefined) return undefined;
      // A later run reads them from the same position, from a saved one, or from the last lines of the file.
      const open = isAtResume || world.saves || (world.byFile && hasLines());
      return { why: { failure }, from, to: null, open, lateFrom: lateFrom() };
    },
    takeUnverified: verified.takeUnverified,
  };
}
