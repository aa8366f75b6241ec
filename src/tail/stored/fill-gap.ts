import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import type { PageSource } from '../../core/pages/source.ts';
import { type WalkOptions, walkPages } from '../../core/pages/walk.ts';
import type { FeedPoint } from '../../store/feed/entry.ts';
import type { FeedPosition, MissingPosts } from '../../store/feed/start.ts';
import { hasId, type TailRow } from '../post-row.ts';

/** The posts below a cursor, or from the newest page on, down to a post time. */
type Range = Pick<WalkOptions, 'before' | 'since' | 'until'>;

/** Fetches the posts of gaps from the pages of the service. */
export class GapFilling {
  readonly #filled = new Set<string>();
  readonly #source: PageSource;
  readonly #clock: Clock;

  constructor(source: PageSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  /**
   * Whether a post was fetched. The store may still have it, because it appeared late, and must not
   * deliver it again.
   */
  has(id: string): boolean {
    return this.#filled.has(id);
  }

  /** The posts of a gap that the follower at this position has not delivered, oldest first. */
  async rows(
    { ahead }: Pick<MissingPosts, 'ahead'>,
    start: FeedPoint,
    position: FeedPosition | undefined,
    signal: AbortSignal,
  ): Promise<TailRow[]> {
    const delivered = new Set(position?.known.map(([id]) => id));
    const ids = new Set([...delivered, ...this.#filled, ...ahead.map(({ id }) => id)]);
    const rows = await this.#firstReadable(rangesOf(ahead, start), start, delivered, signal);
    const missing = rows.filter(({ id }) => !ids.has(id)).reverse();
    for (const { id } of missing) this.#filled.add(id);
    return missing;
  }

  /**
   * The rows of the first range whose cursor the service accepts: the post of a cursor may have
   * been deleted.
   */
  async #firstReadable(
    ranges: readonly Range[],
    start: FeedPoint,
    delivered: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<TailRow[]> {
    const [range, ...others] = ranges;
    if (range === undefined) return [];
    const rows: TailRow[] = [];
    try {
      for await (const row of this.#read(range, signal)) {
        // The first run of a gap ends below its post time; later ones, or one without a time, at a
        // delivered post.
        if (delivered.has(row.id) && (start.at === null || row.at === start.at)) break;
        rows.push(row);
      }
    } catch (error) {
      const isRejected = error instanceof Failure && error.status === 400;
      if (!isRejected || rows.length > 0 || others.length === 0) throw error;
      return await this.#firstReadable(others, start, delivered, signal);
    }
    return rows;
  }

  async *#read(range: Range, signal: AbortSignal): AsyncGenerator<TailRow, void, void> {
    const reading = { ...range, clock: this.#clock, signal, doubtsEnd: true };
    try {
      for await (const row of walkPages(this.#source, reading)) if (hasId(row)) yield row;
    } catch (error) {
      // The end of the feed was seen in several answers, so believe it.
      if (!(error instanceof Failure) || error.code !== 'FEED_ENDED') throw error;
    }
  }
}

/**
 * Where to read a gap: below the newest of the posts that follow it, because the first may have
 * appeared late, otherwise below another of them, otherwise from the newest page on.
 */
function rangesOf(ahead: readonly FeedPoint[], { at }: FeedPoint): Range[] {
  const since = at ?? undefined;
  const tops = ahead.toReversed().sort((one, other) => (other.at ?? 0) - (one.at ?? 0));
  const until = (tops[0]?.at ?? Number.POSITIVE_INFINITY) + 1;
  return [...tops.map(({ id }) => ({ before: id, since })), { before: undefined, since, until }];
}
