import type { PostMark, TailRow } from '../row.ts';

/** The newest position up to which the feed is complete, and the post time from which walks subtract the margin. */
export interface Watermark {
  /** Null if the feed was empty. */
  readonly top: PostMark | null;
  /** Null if no row had a time. */
  readonly base: number | null;
}

/** The number of top rows whose times are ignored: a single post dated into the future must not end every walk. */
const IGNORED_ROWS = 2;

/** The watermark that a walk verified, from its first rows. */
export function watermarkOf(first: readonly TailRow[]): Watermark {
  const top = first[0];
  return { top: top ? { id: top.id, at: top.at } : null, base: steadyTime(first.map((row) => row.at)) };
}

/** The newest of these times, ignoring the two newest; the oldest if there are no more. */
export function steadyTime(times: readonly (number | null)[]): number | null {
  const known = times.filter((at) => at !== null).sort((a, b) => b - a);
  return known[Math.min(IGNORED_ROWS, known.length - 1)] ?? null;
}

/** Post times further ahead of the local clock are ignored. */
const AHEAD_MS = 86_400_000;

/** Removes times that are far ahead. If most are, the local clock must be wrong, so all are accepted. */
export function plausibleTimes(times: readonly (number | null)[], now: number): readonly (number | null)[] {
  const isAhead = (at: number | null) => at !== null && at > now + AHEAD_MS;
  const ahead = times.filter(isAhead).length;
  return ahead > 0 && ahead * 2 < times.length ? times.map((at) => (isAhead(at) ? null : at)) : times;
}

/** Whether a position is not above the top of the complete part. */
export const isBelow = (mark: PostMark, top: PostMark | null): boolean =>
  mark.at !== null && top !== null && top.at !== null && mark.at <= top.at;
