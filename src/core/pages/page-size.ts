import { THESIS_BLOCK, THESIS_LIMIT_MAX } from '../../contract/limits.ts';

/** Chooses how many rows to request per page, for feeds that charge in blocks of rows. */
export interface PageSizer {
  /** The number of rows to request if `left` more are needed. */
  next(left: number): number;
  /** Called for each received page, with the post times of its rows and whether older pages exist. */
  saw(times: readonly (number | null)[], hasMore: boolean): void;
}

/** If at least this many rows are needed, trdr tests whether the service returns pages of two blocks. */
const WORTH_A_PROBE = 100;
const PROBE = 2 * THESIS_BLOCK;

/**
 * Chooses the page size for a walk back to the time `since`, or without a time limit if `since` is -Infinity. A
 * page of one block never costs more per row than a larger page, but larger pages need fewer requests. The first
 * page is one block. If many more rows are needed, two blocks are requested next. Further pages can be larger
 * only if the service then returns more than one block. A page for which the run cannot pay is made smaller.
 */
export function blockSizer(since: number, affords: (rows: number) => boolean): PageSizer {
  let asked = 0;
  let largest: number | undefined;
  let expected = Number.POSITIVE_INFINITY;
  return {
    next(left) {
      const wanted = Math.min(left, expected);
      if (asked === 0 || wanted < WORTH_A_PROBE) asked = Math.min(blocks(wanted), largest ?? THESIS_BLOCK);
      else asked = largest === undefined ? PROBE : Math.min(blocks(wanted), largest);
      while (asked > THESIS_BLOCK && !affords(asked)) asked -= THESIS_BLOCK;
      return asked;
    },
    saw(times, hasMore) {
      if (times.length < asked && hasMore) largest = Math.max(THESIS_BLOCK, blocks(times.length));
      else if (asked > THESIS_BLOCK) largest ??= THESIS_LIMIT_MAX;
      const known = times.filter((time) => time !== null);
      const newest = known[0];
      const oldest = known.at(-1);
      if (since === Number.NEGATIVE_INFINITY || newest === undefined || oldest === undefined) return;
      // Estimates the number of rows back to `since`, assuming that posts are as frequent as on this page.
      const span = newest - oldest;
      expected = span > 0 ? (known.length * Math.max(0, oldest - since)) / span + 1 : THESIS_BLOCK;
    },
  };
}

/** Rounds rows up to full blocks, within the maximum page size. */
const blocks = (rows: number) =>
  Math.min(
    THESIS_LIMIT_MAX,
    Math.max(1, Math.ceil(Math.min(rows, THESIS_LIMIT_MAX) / THESIS_BLOCK)) * THESIS_BLOCK,
  );
