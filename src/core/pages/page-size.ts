export type PageSizer = ReturnType<typeof createPageSizer>;

/** If at least this many rows are needed, trdr tests whether the service returns pages of two blocks. */
const WORTH_A_PROBE = 100;

/**
 * Chooses how many rows to request per page, for feeds that are priced by the block of rows.
 *
 * A page of one block never costs more per row than a larger page, but larger pages need fewer requests. The first page
 * is one block. If many more rows are needed, two blocks are requested next. Further pages can be larger only if the
 * service then returns more than one block. A page for which the run cannot pay is made smaller.
 */
export function createPageSizer(
  { step, max }: { readonly step: number; readonly max: number },
  affords: (rows: number) => boolean = () => true,
) {
  let asked = 0;
  let most: number | undefined;
  return {
    /** The number of rows to request if about `expected` more are needed. */
    next(expected: number): number {
      const blocks = step * Math.ceil(Math.min(Math.max(1, expected), max) / step);
      const largest = most ?? (asked > 0 && expected >= WORTH_A_PROBE ? 2 * step : step);
      asked = Math.min(blocks, largest, max);
      while (asked > step && !affords(asked)) asked -= step;
      return asked;
    },
    /** Called for each received page, with the number of its rows. */
    saw(rows: number, hasMore: boolean): void {
      if (asked <= step) return;
      if (rows < asked && hasMore) most = step * Math.max(1, Math.ceil(rows / step));
      else most ??= max;
    },
  };
}

/** How many more rows lead down to the time `target`, if posts are as frequent as in a page with these times. */
export function rowsDownTo(target: number, times: readonly (number | null)[]): number {
  const known = times.filter((at) => at !== null);
  const [newest, oldest] = [known[0], known.at(-1)];
  if (newest === undefined || oldest === undefined || oldest <= target) return 0;
  return newest <= oldest ? times.length : Math.floor(((oldest - target) / (newest - oldest)) * known.length);
}
