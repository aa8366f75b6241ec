import type { TailRow } from '../row.ts';
import type { Seen } from '../seen/seen.ts';
import { steadyTime, type Watermark } from '../seen/watermark.ts';
import type { Margin } from '../spend/pace.ts';
import type { WalkBounds, Walked } from './walk.ts';

/** Where a run starts. */
export type StartPoint =
  /** `recent` posts of the first page are printed too, which costs nothing more. */
  | { readonly kind: 'now'; readonly recent?: number }
  | { readonly kind: 'backfill'; readonly rows: number }
  | { readonly kind: 'since'; readonly at: number }
  | Resume;

/** Where an earlier run stopped: up to where it is complete, and what it printed above that. */
export interface Resume {
  readonly kind: 'checkpoint' | 'file';
  readonly watermark: Watermark;
  /** Rows posted before this time were printed or are not wanted. */
  readonly floor: number;
  readonly known: readonly (readonly [id: string, at: number | null])[];
  /** Rows since the checkpoint: lines of the output, or batches that a command acknowledged. */
  readonly lines?: readonly (readonly [id: string, at: number | null])[];
}

/** The depth of a walk: the first walk, down to the margin, or down to the first known row. */
export type Depth = 'start' | 'deep' | 'shallow';

/** Determines how far each kind of walk goes and which rows it keeps. */
export interface BoundsSource {
  to(depth: Depth): WalkBounds;
  /** The post time down to which a walk must go. */
  low(): number;
  /** Called with the first walk: rows that are not wanted count as known from now on and are returned, newest first. */
  begin(walked: Walked): readonly TailRow[];
}

/** A post dated further ahead of the next ones does not determine the start. */
const MAX_AHEAD_MS = 3_600_000;
/** The number of rows after which the first walk stops looking for an older time. */
const MAX_TIES = 300;

interface BoundsParts {
  readonly start: StartPoint;
  readonly seen: Seen;
  readonly margin: Margin;
  readonly watermark: () => Watermark | undefined;
}

export function createBounds({ start, seen, margin, watermark }: BoundsParts): BoundsSource {
  /** Unwanted rows of the first walk, and the time of the oldest wanted one. */
  let rest: TailRow[] = [];
  let oldest = Number.NEGATIVE_INFINITY;

  const low = () => Math.max(seen.floor, (watermark()?.base ?? Number.NEGATIVE_INFINITY) - margin.ms);

  /** Whether a row is at or below a post that is known to exist. */
  const isKnown = (row: TailRow): boolean => {
    const mark = watermark();
    if (!mark?.top || row.id === mark.top.id) return true;
    return mark.base !== null && row.at !== null && row.at <= mark.base;
  };

  const deep = (): WalkBounds => ({
    // In a feed without times, only a known id can end a walk.
    beyond: (row) => (row.at === null ? watermark()?.base === null && seen.has(row.id) : row.at < low()),
    keep: (row) => !seen.has(row.id) && (row.at ?? row.atMost ?? seen.floor) >= seen.floor,
    target: low,
    isKnown,
  });

  const shallow = (): WalkBounds => {
    const whole = deep();
    return {
      ...whole,
      // A known post without a time does not end the walk, because pages may always list it first.
      beyond: (row) => (row.at !== null && seen.has(row.id)) || whole.beyond(row),
      target: () => watermark()?.base ?? null,
    };
  };

  /** The newest `rows`, and further to a row older than the top: other posts of that time could look like new ones later. */
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

  /** Rows posted before this are not wanted: the time of --since, the oldest row of a backfill, or the newest post. */
  const firstFloor = (walked: Walked): number => {
    if (start.kind === 'since') return start.at;
    if (start.kind === 'backfill' && start.rows > 0) return oldest;
    const steady = steadyTime(walked.first.map((row) => row.at));
    if (steady === null) return Number.NEGATIVE_INFINITY;
    const times = walked.first.map((row) => row.at ?? steady);
    // The time of a post dated far ahead of the others is ignored.
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
