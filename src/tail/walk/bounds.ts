import type { TailRow } from '../row.ts';
import type { Seen } from '../seen/seen.ts';
import { steadyTime, type Watermark } from '../seen/watermark.ts';
import type { Margin } from '../spend/pace.ts';
import type { WalkBounds, Walked } from './walk.ts';

/** Where a run starts in the feed. */
export type StartPoint =
  /** At the newest post. Up to `recent` posts of the first page are printed too, which costs nothing. */
  | { readonly kind: 'now'; readonly recent?: number }
  | { readonly kind: 'backfill'; readonly rows: number }
  | { readonly kind: 'since'; readonly at: number }
  | Resume;

/** Where an earlier run stopped: up to where its feed was complete, and which later posts it printed. */
export interface Resume {
  readonly kind: 'checkpoint' | 'file';
  readonly watermark: Watermark;
  /**
   * In pages, posts with an earlier post time than this are ignored: the earlier run has printed them, or they
   * precede its start.
   */
  readonly floor: number;
  readonly known: readonly (readonly [id: string, at: number | null])[];
  /**
   * Posts that `known` may not contain, because they were printed after the checkpoint was written: the lines of
   * the output file, or the posts in batches that a command acknowledged.
   */
  readonly lines?: readonly (readonly [id: string, at: number | null])[];
}

/**
 * How far back a walk reads: to the start of the run (start), past the watermark by the margin (deep), or to the
 * first post whose id is in the seen ids (shallow).
 */
export type Depth = 'start' | 'deep' | 'shallow';

/** Determines how far back each type of walk reads, and which posts it returns. */
export interface BoundsSource {
  to(depth: Depth): WalkBounds;
  /**
   * The post time back to which a deep walk reads: the margin before the base of the watermark, or the floor of the
   * seen ids if that is later. -Infinity if neither exists.
   */
  low(): number;
  /**
   * Called with the first walk. Returns the posts from before the start of the run that this walk has read, newest
   * first, and adds them to the seen ids.
   */
  begin(walked: Walked): readonly TailRow[];
}

/**
 * If the time of a post is ahead of the times of the next older posts by more than this, the post does not
 * determine the start of the run.
 */
const MAX_AHEAD_MS = 3_600_000;
/** The number of posts that the first walk may read beyond the requested ones if posts have no time. */
const MAX_TIES = 300;

interface BoundsParts {
  readonly start: StartPoint;
  readonly seen: Seen;
  readonly margin: Margin;
  readonly watermark: () => Watermark | undefined;
}

export function createBounds({ start, seen, margin, watermark }: BoundsParts): BoundsSource {
  /** Posts of the first walk from before the start of the run. */
  let rest: TailRow[] = [];
  /** The time of the oldest post of the backfill. */
  let oldest = Number.NEGATIVE_INFINITY;

  const low = () => Math.max(seen.floor, (watermark()?.base ?? Number.NEGATIVE_INFINITY) - margin.ms);

  /** Whether a post is at the watermark or older; true if there is no watermark. */
  const isKnown = (row: TailRow): boolean => {
    const mark = watermark();
    if (!mark?.top || row.id === mark.top.id) return true;
    return mark.base !== null && row.at !== null && row.at <= mark.base;
  };

  const deep = (): WalkBounds => ({
    // End the walk at a seen id if the feed has no post times.
    beyond: (row) => (row.at === null ? watermark()?.base === null && seen.has(row.id) : row.at < low()),
    keep: (row) => !seen.has(row.id) && (row.at ?? row.atMost ?? seen.floor) >= seen.floor,
    target: low,
    isKnown,
  });

  const shallow = (): WalkBounds => {
    const whole = deep();
    return {
      ...whole,
      // Do not end the walk at a seen post without a time, because every page may list such posts first.
      beyond: (row) => (row.at !== null && seen.has(row.id)) || whole.beyond(row),
      target: () => watermark()?.base ?? null,
    };
  };

  /**
   * The newest `rows` posts. The walk also reads all other posts with the time of the newest post, because
   * they would otherwise look new later.
   */
  const newest = (rows: number): WalkBounds => {
    let count = 0;
    let top: number | null = null;
    rest = [];
    oldest = Number.NEGATIVE_INFINITY;
    return {
      beyond(row) {
        top ??= row.at;
        if (count < rows) return false;
        return row.at !== null && top !== null ? row.at < top : count >= rows + MAX_TIES;
      },
      keep(row) {
        count++;
        if (count > rows) rest.push(row);
        else if (row.at !== null) oldest = row.at;
        return count <= rows;
      },
      target: () => null,
      isKnown: () => true,
    };
  };

  const since = (at: number): WalkBounds => {
    rest = [];
    return {
      beyond: (row) => row.at !== null && row.at < at,
      keep(row, beyond) {
        const wanted = row.at === null ? !beyond : row.at >= at;
        if (!wanted) rest.push(row);
        return wanted;
      },
      target: () => at,
      isKnown: () => true,
    };
  };

  const first = (): WalkBounds => {
    if (start.kind === 'since') return since(start.at);
    if (start.kind === 'backfill') return newest(start.rows);
    return start.kind === 'now' ? newest(0) : deep();
  };

  /**
   * The post time at which the run starts: that of --since, of the oldest post of a backfill, or of the newest
   * post. -Infinity if these posts have no time.
   */
  const firstFloor = (walked: Walked): number => {
    if (start.kind === 'since') return start.at;
    if (start.kind === 'backfill' && start.rows > 0) return oldest;
    const steady = steadyTime(walked.first.map((row) => row.at));
    if (steady === null) return Number.NEGATIVE_INFINITY;
    const times = walked.first.map((row) => row.at ?? steady);
    // Ignore a time that is far ahead of the others.
    return Math.max(...times.filter((at) => at <= steady + MAX_AHEAD_MS));
  };

  const begin = (walked: Walked): readonly TailRow[] => {
    if ('known' in start) return [];
    const passed = rest;
    rest = [];
    for (const row of passed) seen.add(row.id, row.at);
    seen.forget(firstFloor(walked));
    return passed;
  };

  return {
    to: (depth) => (depth === 'start' ? first() : depth === 'deep' ? deep() : shallow()),
    low,
    begin,
  };
}
