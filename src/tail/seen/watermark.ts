import type { PostMark, TailRow } from '../row.ts';

/**
 * The newest position up to which the feed is complete, and the post time from which walks subtract the
 * margin.
 */
export interface Watermark {
  /** The position; null if the feed was empty. */
  readonly top: PostMark | null;
  /** The time from which the margin is subtracted; null if no post had a time. */
  readonly base: number | null;
}

/**
 * How many of the newest posts may have a wrong time. One post dated in the future must not end every walk
 * too early.
 */
const IGNORED_ROWS = 2;

/** The watermark after a walk, which is determined from its first rows. */
export function watermarkOf(first: readonly TailRow[]): Watermark {
  const top = first[0];
  return { top: top ? { id: top.id, at: top.at } : null, base: steadyTime(first.map((row) => row.at)) };
}

/**
 * The third newest of these times, so that one or two wrong times do not matter; the oldest time if there are
 * fewer than three.
 */
export function steadyTime(times: readonly (number | null)[]): number | null {
  const known = times.filter((at) => at !== null).sort((a, b) => b - a);
  return known[Math.min(IGNORED_ROWS, known.length - 1)] ?? null;
}

/** A post time is ignored if it is further in the future than this. */
const AHEAD_MS = 86_400_000;

/**
 * Replaces times that are far in the future with null. If at least half of the times are, the local clock must be
 * wrong, and all times are returned unchanged.
 */
export function plausibleTimes(times: readonly (number | null)[], now: number): readonly (number | null)[] {
  const isAhead = (at: number | null) => at !== null && at > now + AHEAD_MS;
  const ahead = times.filter(isAhead).length;
  return ahead > 0 && ahead * 2 < times.length ? times.map((at) => (isAhead(at) ? null : at)) : times;
}

/** Whether a post is not newer than `top`, up to which the feed is complete; false if a post time is missing. */
export const isBelow = (mark: PostMark, top: PostMark | null): boolean =>
  mark.at !== null && top !== null && top.at !== null && mark.at <= top.at;
