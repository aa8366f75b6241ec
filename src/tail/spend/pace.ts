import { cu } from '../../contract/endpoints.ts';
import { THESIS_BLOCK } from '../../contract/limits.ts';

/** How a feed is priced by the page. */
export interface PagePrice {
  readonly step: number;
  readonly cu: number;
}

const thesisPrice: PagePrice = { step: THESIS_BLOCK, cu: cu.thesisBlock };

/** CU of one poll every `seconds` of a feed with `rate` posts a second; one row overlaps, to prove that nothing is missing. */
export const pollCost = (rate: number, seconds: number, price = thesisPrice): number =>
  price.cu * Math.ceil((rate * seconds + 1) / price.step);

/** CU a minute of polling so. */
export const pollPerMinute = (rate: number, seconds: number, price = thesisPrice): number =>
  (60 / seconds) * pollCost(rate, seconds, price);

/**
 * The cheapest seconds between polls within the lag aimed at: the lag itself, or the longest time in which the
 * expected posts and the overlap just fill whole blocks. `least` bounds it from below.
 */
export function pollSeconds(rate: number, lag: number, least: number, price = thesisPrice): number {
  const longest = Math.max(lag, least);
  const blocks = Math.floor((rate * longest + 1) / price.step);
  const full = blocks > 0 ? (price.step * blocks - 1) / rate : 0;
  const cheaper = full >= least && pollPerMinute(rate, full, price) < pollPerMinute(rate, longest, price);
  return cheaper ? full : longest;
}

/** The least seconds between polls that leave half of a key's requests to others. */
export const leastSeconds = (ratePerMinute: number | null): number =>
  ratePerMinute ? 60 / (ratePerMinute / 2) : 1;

/** How many rows to ask for when `expected` are still to come. */
export const pageRows = (expected: number, step: number, max: number): number =>
  Math.min(max, Math.max(step, step * Math.ceil((expected + 1) / step)));

/** Decides page sizes, and learns whether the service gives more than one block for a larger limit. */
export interface PollSizer {
  first(): number;
  next(expected: number): number;
  learn(limit: number, rows: number, hasMore: boolean): void;
}

/** Starts small, probes once with two blocks, and keeps to one where more was paid than given. */
export function createPollSizer(sizes: { readonly step: number; readonly max: number }): PollSizer {
  let most = Math.min(sizes.max, sizes.step * 2);
  return {
    first: () => sizes.step,
    next: (expected) => pageRows(expected, sizes.step, most),
    learn(limit, rows, hasMore) {
      if (limit <= sizes.step) return;
      if (rows > sizes.step) most = sizes.max;
      else if (hasMore) most = sizes.step;
    },
  };
}

/** Posts a second, smoothed over the last few walks. */
export interface Rate {
  readonly perSecond: number;
  add(rows: number, ms: number): void;
}

const SMOOTHING_MS = 120_000;

/** A rate that follows the feed within minutes. */
export function createRate(): Rate {
  let rate = 0;
  let known = false;
  return {
    get perSecond() {
      return rate;
    },
    add(rows, ms) {
      if (ms <= 0) return;
      const weight = known ? 1 - Math.exp(-ms / SMOOTHING_MS) : 1;
      known = true;
      rate += weight * ((rows * 1_000) / ms - rate);
    },
  };
}

/** How far below the watermark to walk: all of the margin, or on a fast feed thrice the lateness that was really seen. */
export interface Margin {
  readonly ms: number;
  /** A walk of the margin in force is done: how many rows it read, and the worst lateness it met. */
  learn(lateMs: number, rows: number): void;
}

/** Rows of a walk that cost half a minute of the socket, and such walks in a row to learn from before it shrinks. */
const WALK_ROWS = 1_000;
const LESSONS = 10;

/** A margin that shrinks only after ten full ones have shown how late posts are. */
export function createMargin(full: number, least: number, auditMs: number): Margin {
  let ms = full;
  let lessons = 0;
  let worst = 0;
  return {
    get ms() {
      return ms;
    },
    learn(lateMs, rows) {
      worst = Math.max(lateMs, worst * 0.99);
      // What the whole margin would have cost, not what a narrow one did.
      const whole = (rows * (full + auditMs)) / (ms + auditMs);
      lessons = whole > WALK_ROWS ? lessons + 1 : 0;
      ms = lessons >= LESSONS ? Math.min(full, Math.max(least, 3 * worst)) : full;
    },
  };
}
