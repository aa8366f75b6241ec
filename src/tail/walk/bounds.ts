import type { TailRow } from '../row.ts';
import type { Seen } from '../seen/seen.ts';
import { steadyTime, type Watermark } from '../seen/watermark.ts';
import type { Margin } from '../spend/pace.ts';
import type { WalkBounds, Walked } from './walk.ts';

/** Where a run begins. */
export type StartPoint =
  /** `recent` posts of the first page are printed too, which costs nothing more. */
  | { readonly kind: 'now'; readonly recent?: number }
  | { readonly kind: 'backfill'; readonly rows: number }
  | { readonly kind: 'since'; readonly at: number }
  | Resume;

/** Where an earlier run stopped: what is complete, and what came out above it. */
export interface Resume {
  readonly kind: 'checkpoint' | 'file';
  readonly watermark: Watermark;
  /** Rows posted before this came out, or are not wanted. */
  readonly floor: number;
  readonly known: readonly (readonly [id: string, at: number | null])[];
  /** What came out since the checkpoint: lines of the output, or batches that a command acknowledged. */
  readonly lines?: readonly (readonly [id: string, at: number | null])[];
}

/** How a walk is meant: of the start, down to the margin, or only to what is known. */
export type Depth = 'start' | 'deep' | 'shallow';

/** How far each kind of walk goes, and what it takes along. */
export interface BoundsSource {
  to(depth: Depth): WalkBounds;
  /** Post time down to which a walk has to go. */
  low(): number;
  /** The first walk is taken over: what it need not bring is known from now on, and returned, newest first. */
  begin(walked: Walked): readonly TailRow[];
}

/** How much newer than the next few a post may be dated for the start to count from it. */
const BELIEVED_MS = 3_600_000;
/** Rows without a usable time after which a first look gives up looking for an older one. */
const TIES = 300;

interface RoutesWorld {
  readonly start: StartPoint;
  readonly seen: Seen;
  readonly margin: Margin;
  readonly watermark: () => Watermark | undefined;
}

export function createBounds({ start, seen, margin, watermark }: RoutesWorld): BoundsSource {
  /** Rows of a first walk that are not wanted, and the time of the oldest that is. */
  let rest: TailRow[] = [];
  let oldest = Number.NEGATIVE_INFINITY;

  const low = () => Math.max(seen.floor, (watermark()?.base ?? Number.NEGATIVE_INFINITY) - margin.ms);

  /** Whether the feed is known to have had a post here or below. */
  const isKnown = (row: TailRow): boolean => {
    const mark = watermark();
    if (!mark?.top || row.id === mark.top.id) return true;
    return mark.base !== null && row.at !== null && row.at <= mark.base;
  };

  const deep = (): WalkBounds => ({
    // On a feed without times, nothing but a known id can end a walk.
    beyond: (row) => (row.at === null ? watermark()?.base === null && seen.has(row.id) : row.at < low()),
    keep: (row) => !seen.has(row.id) && (row.at ?? row.atMost ?? seen.floor) >= seen.floor,
    target: low,
    isKnown,
  });

  const shallow = (): WalkBounds => {
    const whole = deep();
    return {
      ...whole,
      // A known post without a time proves nothing: it may stand above all others for good.
      beyond: (row) => (row.at !== null && seen.has(row.id)) || whole.beyond(row),
      target: () => watermark()?.base ?? null,
    };
  };

  /** The newest `rows`, and on to one that is older than the top: a tie could not be told from a post to come. */
  const newest = (rows: number): WalkBounds => {
    let count = 0;
    let top: number | null = null;
    rest = [];
    oldest = Number.NEGATIVE_INFINITY;
    return {
      beyond(row) {
        top ??= row.at;
        if (count < rows) return false;
        return row.at !== null && top !== null ? row.at < top : count >= rows + TIES;
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

  /** What was posted before is not wanted: the start's own time, the oldest row of a backfill, or the newest post. */
  const firstFloor = (walked: Walked): number => {
    if (start.kind === 'since') return start.at;
    if (start.kind === 'backfill' && start.rows > 0) return oldest;
    const steady = steadyTime(walked.first.map((row) => row.at));
    if (steady === null) return Number.NEGATIVE_INFINITY;
    const times = walked.first.map((row) => row.at ?? steady);
    // A post dated far ahead of the others is not believed.
    return Math.max(...times.filter((at) => at <= steady + BELIEVED_MS));
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
