/** What a walk shows of the rate of the feed. */
interface WalkedPosts {
  /** The monotonic time at which the first page was requested. */
  readonly startedAt: number;
  /** The post times of the newest page. */
  readonly times: readonly (number | null)[];
  /** The posts by which the clock of the feed advanced, and by how many milliseconds it did. */
  readonly newer: number;
  readonly coveredMs: number;
}

const SMOOTHING_MS = 120_000;

/**
 * How many posts per second the feed has, averaged over about two minutes. After a pause (of this
 * tail, of its machine or of the service), the posts of the whole pause are read at once: they
 * count by the time that they cover.
 */
export class FeedRate {
  #perSecond: number | undefined;
  #learnedAt: number;

  constructor(now: number) {
    this.#learnedAt = now;
  }

  get perSecond(): number {
    return this.#perSecond ?? 0;
  }

  learn({ startedAt, times, newer, coveredMs }: WalkedPosts): void {
    const elapsedMs = startedAt - this.#learnedAt;
    this.#learnedAt = startedAt;
    if (this.#perSecond === undefined) {
      this.#perSecond = rateIn(times);
      return;
    }
    const ms = Math.max(elapsedMs, coveredMs);
    if (ms <= 0) return;
    const weight = 1 - Math.exp(-ms / SMOOTHING_MS);
    this.#perSecond += weight * ((newer * 1_000) / ms - this.#perSecond);
  }
}

/** The rate of the posts of one page; undefined if it has no two different times. */
function rateIn(times: readonly (number | null)[]): number | undefined {
  const usable = times.filter((at) => at !== null);
  const [newest, oldest] = [usable[0], usable.at(-1)];
  if (newest === undefined || oldest === undefined || newest <= oldest) return undefined;
  return ((usable.length - 1) * 1_000) / (newest - oldest);
}
