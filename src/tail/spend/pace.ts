import { THESIS_BLOCK } from '../../contract/limits.ts';
import { cu } from '../../contract/prices.ts';

/** The price of a page: `cu` for every started block of `step` rows. */
export interface PagePrice {
  readonly step: number;
  readonly cu: number;
}

const thesisPrice: PagePrice = { step: THESIS_BLOCK, cu: cu.thesisBlock };

/**
 * The CU of one poll if the tail polls every `seconds` and the feed has `rate` posts per second. Each poll
 * also reads one known post again, which proves that no post is missing between two polls.
 */
export const pollCost = (rate: number, seconds: number, price = thesisPrice): number =>
  price.cu * Math.ceil((rate * seconds + 1) / price.step);

/** The CU per minute of polling with this interval. */
export const pollPerMinute = (rate: number, seconds: number, price = thesisPrice): number =>
  (60 / seconds) * pollCost(rate, seconds, price);

/**
 * The cheapest polling interval in seconds for the requested lag, but at least `least`. It is the lag itself, or
 * a shorter interval at which the rows of a poll exactly fill the blocks that are paid for.
 */
export function pollSeconds(rate: number, lag: number, least: number, price = thesisPrice): number {
  const longest = Math.max(lag, least);
  const blocks = Math.floor((rate * longest + 1) / price.step);
  const full = blocks > 0 ? (price.step * blocks - 1) / rate : 0;
  const cheaper = full >= least && pollPerMinute(rate, full, price) < pollPerMinute(rate, longest, price);
  return cheaper ? full : longest;
}

/**
 * The shortest polling interval in seconds, which leaves half of the rate limit to other processes. One second if the
 * rate limit is not known.
 */
export const leastSeconds = (ratePerMinute: number | null): number =>
  ratePerMinute ? 60 / (ratePerMinute / 2) : 1;

/**
 * The `limit` of the next page request if `expected` more rows are needed.
 * @internal Exported for tests.
 */
export const pageRows = (expected: number, step: number, max: number): number =>
  Math.min(max, Math.max(step, step * Math.ceil((expected + 1) / step)));

/** Chooses page sizes for polling, and finds out whether the service returns more than one block of rows. */
export interface PollSizer {
  first(): number;
  next(expected: number): number;
  learn(limit: number, rows: number, hasMore: boolean): void;
}

/**
 * Starts with pages of one block, then tries two blocks. If the service returns only one block although the feed
 * has more rows, all further pages are one block; if it returns more, pages may have the maximum size.
 */
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

/** Creates a rate that adapts to changes of the feed within minutes. */
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

/**
 * How far below the watermark a walk reads: the full margin, or on a fast feed three times the greatest recent
 * lateness.
 */
export interface Margin {
  readonly ms: number;
  /** Adapts the margin to a finished walk: the greatest lateness of its rows, and their number. */
  learn(lateMs: number, rows: number): void;
}

/** A walk with this many rows counts as large: it costs half as much as a minute of the WebSocket. */
const WALK_ROWS = 1_000;
const LESSONS = 10;

/** Creates a margin. It shrinks only after ten consecutive large walks have shown how late posts appear. */
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
      // Estimate how many rows a walk of the full margin would have read.
      const whole = (rows * (full + auditMs)) / (ms + auditMs);
      lessons = whole > WALK_ROWS ? lessons + 1 : 0;
      ms = lessons >= LESSONS ? Math.min(full, Math.max(least, 3 * worst)) : full;
    },
  };
}
