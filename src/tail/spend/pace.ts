import { THESIS_BLOCK } from '../../contract/limits.ts';
import { cu } from '../../contract/prices.ts';

/** The price of a page. */
export interface PagePrice {
  readonly step: number;
  readonly cu: number;
}

const thesisPrice: PagePrice = { step: THESIS_BLOCK, cu: cu.thesisBlock };

/** The CU of one poll every `seconds` at `rate` posts per second; one row overlaps, to show that nothing is missing. */
export const pollCost = (rate: number, seconds: number, price = thesisPrice): number =>
  price.cu * Math.ceil((rate * seconds + 1) / price.step);

/** The CU per minute of polling at this interval. */
export const pollPerMinute = (rate: number, seconds: number, price = thesisPrice): number =>
  (60 / seconds) * pollCost(rate, seconds, price);

/**
 * The cheapest interval between polls within the target lag: the lag itself, or the longest time in which the expected
 * posts and the overlap just fill whole blocks. It is at least `least`.
 */
export function pollSeconds(rate: number, lag: number, least: number, price = thesisPrice): number {
  const longest = Math.max(lag, least);
  const blocks = Math.floor((rate * longest + 1) / price.step);
  const full = blocks > 0 ? (price.step * blocks - 1) / rate : 0;
  const cheaper = full >= least && pollPerMinute(rate, full, price) < pollPerMinute(rate, longest, price);
  return cheaper ? full : longest;
}

/** The minimum interval between polls in seconds, which leaves half of the rate limit to other processes. */
export const leastSeconds = (ratePerMinute: number | null): number =>
  ratePerMinute ? 60 / (ratePerMinute / 2) : 1;

/** The limit to request if `expected` rows are still to come. */
export const pageRows = (expected: number, step: number, max: number): number =>
  Math.min(max, Math.max(step, step * Math.ceil((expected + 1) / step)));

/** Chooses page sizes, and learns whether the service returns more than one block for a larger limit. */
export interface PollSizer {
  first(): number;
  next(expected: number): number;
  learn(limit: number, rows: number, hasMore: boolean): void;
}

/** Starts with one block, tries two once, and stays at one if the service returned fewer rows than were paid for. */
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

/** The posts per second, smoothed over the last walks. */
export interface Rate {
  readonly perSecond: number;
  add(rows: number, ms: number): void;
}

const SMOOTHING_MS = 120_000;

/** Creates a rate that follows the feed within minutes. */
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

/** How far below the watermark to walk: the full margin, or on a fast feed three times the observed lateness. */
export interface Margin {
  readonly ms: number;
  /** Learns from a finished walk: the number of its rows and the greatest lateness. */
  learn(lateMs: number, rows: number): void;
}

/** The rows of a walk that costs half a minute of the socket, and the number of such walks before the margin shrinks. */
const WALK_ROWS = 1_000;
const LESSONS = 10;

/** Creates a margin that shrinks only after ten walks at full size have shown how late posts are. */
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
      // The rows that a walk of the full margin would have read.
      const whole = (rows * (full + auditMs)) / (ms + auditMs);
      lessons = whole > WALK_ROWS ? lessons + 1 : 0;
      ms = lessons >= LESSONS ? Math.min(full, Math.max(least, 3 * worst)) : full;
    },
  };
}
