import { THESIS_BLOCK, THESIS_LIMIT_MAX } from '../../contract/limits.ts';

/** Chooses how many rows to request, where rows are priced in blocks. */
export interface PageSizer {
  /** Rows to request when `left` more are wanted. */
  next(left: number): number;
  /** Reports a received page: the post times of its rows, and whether more pages exist. */
  saw(times: readonly (number | null)[], hasMore: boolean): void;
}

/**
 * From this many rows on, it is worth testing whether larger pages work: they cost the same per row and
 * need fewer requests.
 */
const WORTH_A_PROBE = 100;
const PROBE = 2 * THESIS_BLOCK;

/**
 * Pages of one block never cost more per row than larger ones; larger pages need fewer requests. So the
 * first page is one block. If many more rows are wanted, one page of two blocks shows whether the service
 * returns more than a block at all; if not, all further pages are single blocks.
 */
export function blockSizer(since: number): PageSizer {
  let asked = 0;
  let largest: number | undefined;
  let expected = Number.POSITIVE_INFINITY;
  return {
    next(left) {
      const wanted = Math.min(left, expected);
      if (asked === 0 || wanted < WORTH_A_PROBE) asked = Math.min(blocks(wanted), largest ?? THESIS_BLOCK);
      else asked = largest === undefined ? PROBE : Math.min(blocks(wanted), largest);
      return asked;
    },
    saw(times, hasMore) {
      if (times.length < asked && hasMore) largest = Math.max(THESIS_BLOCK, blocks(times.length));
      else if (asked > THESIS_BLOCK) largest ??= THESIS_LIMIT_MAX;
      const known = times.filter((time) => time !== null);
      const newest = known[0];
      const oldest = known.at(-1);
      if (since === Number.NEGATIVE_INFINITY || newest === undefined || oldest === undefined) return;
      // The expected number of rows back to `since`, at the density of this page.
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
