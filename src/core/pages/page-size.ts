export type PageSizer = ReturnType<typeof createPageSizer>;

/** If so many rows are needed, a test whether the service returns larger pages pays. */
const WORTH_A_PROBE = 100;

/** One block never costs more per row than a larger page, but larger pages need fewer requests. */
export function createPageSizer(
  { step, max }: { readonly step: number; readonly max: number },
  affords: (rows: number) => boolean = () => true,
) {
  let asked = 0;
  let most: number | undefined;
  return {
    next(expected: number): number {
      const blocks = step * Math.ceil(Math.min(Math.max(1, expected), max) / step);
      const largest = most ?? (asked > 0 && expected >= WORTH_A_PROBE ? 2 * step : step);
      asked = Math.min(blocks, largest, max);
      while (asked > step && !affords(asked)) asked -= step;
      return asked;
    },
    saw(rows: number, hasMore: boolean): void {
      if (asked <= step) return;
      if (rows < asked && hasMore) most = step * Math.max(1, Math.ceil(rows / step));
      else most ??= max;
    },
  };
}

/** If posts are as frequent as in a page with these times. */
export function rowsDownTo(target: number, times: readonly (number | null)[]): number {
  const known = times.filter((at) => at !== null);
  const [newest, oldest] = [known[0], known.at(-1)];
  if (newest === undefined || oldest === undefined || oldest <= target) return 0;
  return newest <= oldest
    ? times.length
    : Math.floor(((oldest - target) / (newest - oldest)) * known.length);
}
