import type { PostMark, TailRow } from '../row.ts';

/** The newest place known to be complete, and the post time from which walks count back. */
export interface Watermark {
  /** Null where the feed was empty. */
  readonly top: PostMark | null;
  /** Null where no row had a time. */
  readonly base: number | null;
}

/** Rows at the top whose times are not trusted: one post dated into the future must not end every walk above it. */
const ODD_ROWS = 2;

/** The watermark that a walk proves, from its first rows. */
export function watermarkOf(first: readonly TailRow[]): Watermark {
  const top = first[0];
  return { top: top ? { id: top.id, at: top.at } : null, base: steadyTime(first.map((row) => row.at)) };
}

/** The newest of these times once the few newest are set aside; the oldest where there are no more. */
export function steadyTime(times: readonly (number | null)[]): number | null {
  const known = times.filter((at) => at !== null).sort((a, b) => b - a);
  return known[Math.min(ODD_ROWS, known.length - 1)] ?? null;
}

/** Post times further ahead of this machine's clock are not believed. */
const AHEAD_MS = 86_400_000;

/** Times without those that are years ahead. Where most are, this machine's clock is wrong rather than they. */
export function believedTimes(times: readonly (number | null)[], now: number): readonly (number | null)[] {
  const isAhead = (at: number | null) => at !== null && at > now + AHEAD_MS;
  const ahead = times.filter(isAhead).length;
  return ahead > 0 && ahead * 2 < times.length ? times.map((at) => (isAhead(at) ? null : at)) : times;
}

/** Whether a place is not above the top of what is complete. */
export const isBelow = (mark: PostMark, top: PostMark | null): boolean =>
  mark.at !== null && top !== null && top.at !== null && mark.at <= top.at;
