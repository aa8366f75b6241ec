import type { Sent } from '../../contract/read-record.ts';
import { timeOfItem } from '../../contract/records/page.ts';
import type { TimedFeed, WalkOptions } from '../../core/pages/walk.ts';
import { descriptorIn } from '../../output/file.ts';
import type { Filters } from '../../tail/certificate.ts';
import { certify } from '../../tail/file/certify.ts';
import { LineCount } from '../../tail/file/line-count.ts';
import { feedOf, resumableOut } from '../../tail/file/position-file.ts';
import { nthNewest } from '../../tail/post-row.ts';
import { timing } from '../../tail/timing.ts';
import type { Context } from '../run/context.ts';

/** So many posts in a row decide about a time, because a single one may be dated wrongly. */
const PROOF = 3;

/** A post that is dated further ahead has no usable time. */
const AHEAD_MS = 86_400_000;

type Range = Pick<WalkOptions, 'since' | 'until'>;

/** Observes the feeds of a list and its posts, and certifies what was written of them. */
export interface ListCertificate {
  watch<T>(feeds: readonly TimedFeed<T>[]): readonly TimedFeed<T>[];
  saw(item: Sent): void;
  write(feed: string, filters: Filters, isCut: boolean): void;
}

/** Observes a list, and creates the certificate of `--out`. Only NDJSON files have one. */
export function createListCertificate(
  context: Context,
  timeField: string,
  { since, until }: Range,
): ListCertificate {
  const { io } = context.terminal;
  const { flags, format } = context.settings;
  // Nothing can be written beside a descriptor, such as /dev/fd/7.
  const isFile = flags.out !== undefined && descriptorIn(flags.out) === undefined;
  const out = format === 'ndjson' && isFile ? resumableOut(flags.out) : undefined;
  /** The clock of the service, by the first pages. */
  let sigma: number | undefined;
  /** When the newest page was read, by the clock of this machine. */
  let readAt: number | null = null;
  let lanes: readonly ReadFeed[] = [];
  let newest: number | null = null;
  /** The oldest post times that were read, oldest first. */
  let oldest: number[] = [];

  const usable = (at: number | null) => (at !== null && at > io.clock.now() + AHEAD_MS ? null : at);

  return {
    /** Observes the feeds that are read from now on, in place of those before. */
    watch<T>(feeds: readonly TimedFeed<T>[]): readonly TimedFeed<T>[] {
      if (out === undefined) return feeds;
      const watched = feeds.map((feed) => ({ feed, lane: new ReadFeed(since) }));
      lanes = watched.map(({ lane }) => lane);
      return watched.map(({ feed, lane }) => ({
        ...feed,
        async page(before, rows, signal) {
          const page = await feed.page(before, rows, signal);
          const times = page.items.map((item) => usable(feed.timeOf(item)));
          readAt ??= io.clock.now();
          if (lane.isNew) sigma = Math.max(sigma ?? 0, nthNewest(times, PROOF - 1) ?? 0);
          lane.see(times, page.hasMore);
          return page;
        },
      }));
    },
    /** Called with each post of the range, whether it passes the filter or not. */
    saw(item: Sent): void {
      const at = usable(timeOfItem(item, timeField));
      if (at === null || out === undefined) return;
      newest = Math.max(newest ?? at, at);
      oldest = [...oldest, at].sort((one, other) => one - other).slice(0, PROOF);
    },
    /**
     * Writes the certificate of a complete file. With `isCut`, the list ended before the end of the
     * range.
     */
    write(feed: string, filters: Filters, isCut: boolean): void {
      if (out === undefined) return;
      const read = isCut || since === undefined ? (oldest[PROOF - 1] ?? null) : since - 1;
      const provenAfter = Math.max(...lanes.map((lane) => lane.provenAfter));
      const isProven = read !== null && provenAfter < Number.POSITIVE_INFINITY;
      const after = isProven ? Math.max(read, provenAfter) : null;
      const to = Math.min(
        (sigma ?? 0) - timing.latenessMs,
        (until ?? Number.POSITIVE_INFINITY) - 1,
      );
      const verified = after === null || to <= after ? null : to;
      const count = new LineCount().read(out);
      const lines = count.lines(newest);
      // With --fields, the lines may have no ids.
      if (lines.rows > 0 && lines.first === null) return;
      certify(
        out,
        {
          feed: feedOf(feed, context.service),
          filters,
          ids: [],
          readAt: until ? null : readAt,
          start: after,
          verified,
          lowest: oldest[0] ?? null,
          coverage: { after, gaps: [] },
        },
        { dev: '', ino: '', offset: count.digest.bytes, lines },
      );
    },
  };
}

/** What the pages of one feed show of it. */
class ReadFeed {
  isNew = true;
  #isReached = false;
  #older = 0;
  #hasMore = true;
  #oldest: number[] = [];
  readonly #since: number | undefined;

  constructor(since: number | undefined) {
    this.#since = since;
  }

  see(times: readonly (number | null)[], hasMore: boolean): void {
    this.isNew = false;
    this.#hasMore = hasMore;
    for (const at of times) {
      if (at === null) continue;
      this.#oldest = [...this.#oldest, at].sort((one, other) => one - other).slice(0, PROOF);
      this.#older = this.#since !== undefined && at < this.#since ? this.#older + 1 : 0;
      this.#isReached ||= this.#older >= PROOF;
    }
  }

  /** The reported end of the feed proves nothing: more posts may be older than the last ones. */
  get provenAfter(): number {
    if (this.#isReached || this.#hasMore) return Number.NEGATIVE_INFINITY;
    return this.#oldest[PROOF - 1] ?? Number.POSITIVE_INFINITY;
  }
}
