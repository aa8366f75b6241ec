import type { PostMark } from '../row.ts';
import type { Margin } from '../spend/pace.ts';
import type { Seen } from './seen.ts';
import type { Watermark } from './watermark.ts';

/** A range of the feed that can no longer be verified. */
export interface UnverifiedRange {
  readonly from: PostMark | null;
  readonly to: PostMark;
}

/** Tracks up to where the feed is complete, and which ranges can no longer be verified. */
export interface VerifiedRange {
  readonly watermark: Watermark | undefined;
  /** Sets the watermark, but never lowers its `base`, the time from which the margin is subtracted. */
  moveTo(next: Watermark): void;
  /**
   * Called after the run has raised the floor of the remembered ids on purpose, so that `noteForgotten` does not
   * report a range.
   */
  noteFloor(): void;
  /** Records a range whose ids had to be removed from memory, if there is one. */
  noteForgotten(): void;
  /** Returns the range that `noteForgotten` has recorded; undefined if there is none, or it was returned before. */
  takeUnverified(): UnverifiedRange | undefined;
}

export function createVerifiedRange(
  seen: Seen,
  margin: Margin,
  initial: Watermark | undefined,
): VerifiedRange {
  let watermark = initial;
  let lowest = seen.floor;
  let unverified: UnverifiedRange | undefined;
  return {
    get watermark() {
      return watermark;
    },
    moveTo(next) {
      const base = Math.max(
        next.base ?? Number.NEGATIVE_INFINITY,
        watermark?.base ?? Number.NEGATIVE_INFINITY,
      );
      watermark = { top: next.top ?? watermark?.top ?? null, base: Number.isFinite(base) ? base : null };
      if (watermark.base !== null) seen.forget(watermark.base - margin.ms);
      lowest = seen.floor;
    },
    noteFloor() {
      lowest = seen.floor;
    },
    noteForgotten() {
      if (seen.floor <= lowest) return;
      lowest = seen.floor;
      const to = { id: '', at: seen.floor };
      unverified = { from: unverified?.from ?? watermark?.top ?? null, to };
      watermark = { top: to, base: seen.floor + margin.ms };
    },
    takeUnverified() {
      const taken = unverified;
      unverified = undefined;
      return taken;
    },
  };
}
