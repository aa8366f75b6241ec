import type { Clock } from '../../base/clock.ts';
import { stopCodeOf } from '../../core/pages/read-pages.ts';
import type { PageSource } from '../../core/pages/source.ts';
import { type WalkOptions, walkPages } from '../../core/pages/walk.ts';
import type { FeedPoint } from '../../store/feed/entry.ts';
import type { FeedPosition, MissingPosts } from '../../store/feed/start.ts';
import { hasId, type TailRow } from '../post-row.ts';
import { ENDS } from '../walk/walk.ts';

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
    const { at } = start;
    // The first run of a gap ends below its post time; later ones, or one without a time, at a
    // delivered post.
    const isEnd = (row: TailRow) => delivered.has(row.id) && (at === null || row.at === at);
    const tops = ahead.toReversed().sort((one, other) => (other.at ?? 0) - (one.at ?? 0));
    const until = (tops[0]?.at ?? Number.POSITIVE_INFINITY) + 1;
    const before = tops.map(({ id }) => id);
    const doubts = { endProof: ENDS, tries: ENDS + 1, doubtsClock: true };
    const reading = { since: at ?? undefined, clock: this.#clock, signal, ...doubts };
    // Below the newest of the posts that follow the gap, because the first may have appeared late,
    // or below another of them; if all of these were deleted, from the newest page on.
    const rows =
      (await this.#read({ ...reading, before }, isEnd)) ??
      (await this.#read({ ...reading, until }, isEnd)) ??
      [];
    const missing = rows.filter(({ id }) => !ids.has(id)).reverse();
    for (const { id } of missing) this.#filled.add(id);
    return missing;
  }

  /** The rows down to the end, newest first; undefined if no cursor is accepted. */
  async #read(
    reading: WalkOptions,
    isEnd: (row: TailRow) => boolean,
  ): Promise<TailRow[] | undefined> {
    const rows: TailRow[] = [];
    try {
      for await (const row of walkPages(this.#source, reading)) {
        if (!hasId(row)) continue;
        if (isEnd(row)) break;
        rows.push(row);
      }
    } catch (error) {
      const isUnread = rows.length === 0 && reading.before !== undefined;
      if (stopCodeOf(error) === 'CURSOR_LOST' && isUnread) return undefined;
      throw error;
    }
    return rows;
  }
}
