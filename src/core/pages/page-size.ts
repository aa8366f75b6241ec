/** Chooses the rows of each page. */
export interface PageSizer {
  /** The rows to request, if so many more are expected. */
  next(expected: number): number;
  /** Learns from a page: the service may cap pages at fewer rows. */
  saw(rows: number, hasMore: boolean): void;
}

/** The rows of the smallest page, by which larger ones grow, and of the largest one. */
interface PageSizes {
  readonly step: number;
  readonly max: number;
}

/** If so many rows are needed, a test whether the service returns larger pages pays. */
const WORTH_A_PROBE = 100;

/** Whether a list of so many rows may pay for one more block, to test larger pages. */
export const mayProbe = (rows: number, { step, max }: PageSizes): boolean =>
  max > step && rows >= step + WORTH_A_PROBE;

/** One block never costs more per row than a larger page, but larger pages need fewer requests. */
export function createPageSizer(
  { step, max }: PageSizes,
  affords: (rows: number) => boolean = () => true,
): PageSizer {
  let asked = 0;
  let most: number | undefined;
  return {
    next(expected) {
      const blocks = step * Math.ceil(Math.min(Math.max(1, expected), max) / step);
      const largest = most ?? (asked > 0 && expected >= WORTH_A_PROBE ? 2 * step : step);
      asked = Math.min(blocks, largest, max);
      while (asked > step && !affords(asked)) asked -= step;
      return asked;
    },
    saw(rows, hasMore) {
      if (asked <= step) return;
      if (rows < asked && hasMore) most = step * Math.max(1, Math.ceil(rows / step));
      else most ??= max;
    },
  };
}

/** How dense the posts of a feed are, by all that was read of it: a single page may be a burst. */
export class Density {
  #rows = 0;
  #newest = Number.NEGATIVE_INFINITY;
  #oldest = Number.NEGATIVE_INFINITY;

  /** Takes the times of the next page. */
  take(times: readonly (number | null)[]): void {
    const stated = times.filter((at) => at !== null);
    this.#rows += stated.length;
    this.#newest = stated.reduce((most, at) => Math.max(most, at), this.#newest);
    this.#oldest = stated.at(-1) ?? this.#oldest;
  }

  /** How many more rows there are down to a time, if older posts are as dense. */
  rowsDownTo(target: number): number {
    if (this.#oldest <= target) return 0;
    return this.#newest <= this.#oldest
      ? this.#rows
      : Math.floor(((this.#oldest - target) / (this.#newest - this.#oldest)) * this.#rows);
  }
}
