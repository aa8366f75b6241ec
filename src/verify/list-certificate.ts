import { type PageRow, withoutFutureTimes } from '../core/pages/post.ts';
import { Boundary, PROOF } from '../core/pages/proof.ts';
import type { PageSource } from '../core/pages/source.ts';
import { isWithoutRange, type WalkOptions } from '../core/pages/walk.ts';
import { descriptorIn } from '../output/file.ts';
import type { Filters } from '../tail/certificate.ts';
import { certify } from '../tail/file/certify.ts';
import { LineCount } from '../tail/file/line-count.ts';
import { feedOf, resumableOut } from '../tail/file/position-file.ts';
import { nthNewest } from '../tail/post-row.ts';
import { timing } from '../tail/timing.ts';

/** The list that is certified, and where. */
interface CertifiedList {
  /** The file that the list is written to; undefined if it is not certified. */
  readonly file: string | undefined;
  /** The service that the posts are from. */
  readonly service: { readonly scope?: { readonly baseUrl: string } | undefined };
  readonly range: Pick<WalkOptions, 'since' | 'until'>;
  readonly now: () => number;
}

/**
 * The file of `--out` if it can have a certificate: only NDJSON files have one, and nothing can be
 * written beside a descriptor, such as /dev/fd/7.
 */
export function fileToCertify(out: string | undefined, format: string): string | undefined {
  if (format !== 'ndjson' || out === undefined || descriptorIn(out) !== undefined) return undefined;
  return resumableOut(out);
}

/** Observes the feeds of a list and its posts, and certifies what was written of them. */
export class ListCertificate {
  readonly #list: CertifiedList;
  /** The clock of the service, by the first pages. */
  #serviceTime: number | undefined;
  /** When the newest page was read, by the clock of this machine. */
  #readAt: number | null = null;
  #feeds: readonly ReadFeed[] = [];
  #newest: number | null = null;
  /** The oldest post times that were read, oldest first. */
  #oldest: readonly number[] = [];

  constructor(list: CertifiedList) {
    this.#list = list;
  }

  /** Observes the feeds that are read from now on, in place of those before. */
  watch(feeds: readonly PageSource[]): readonly PageSource[] {
    const { file, range } = this.#list;
    if (file === undefined) return feeds;
    const watched = feeds.map((feed) => ({ feed, read: new ReadFeed(range.since) }));
    this.#feeds = watched.map(({ read }) => read);
    return watched.map(({ feed, read }) => ({
      ...feed,
      page: async (ask, signal) => {
        const page = await feed.page(ask, signal);
        const rows = withoutFutureTimes(page.rows, this.#list.now(), isWithoutRange(range));
        this.#see(read, rows, page.hasMore);
        return page;
      },
    }));
  }

  /** Called with each post of the range, whether it passes the filter or not. */
  saw({ at }: PageRow): void {
    if (at === null || this.#list.file === undefined) return;
    this.#newest = Math.max(this.#newest ?? at, at);
    this.#oldest = oldestOf([...this.#oldest, at]);
  }

  /**
   * Writes the certificate of a complete file. With `isCut`, the list ended before the end of the
   * range.
   */
  write(feed: string, filters: Filters, isCut: boolean): void {
    const { file, service, range } = this.#list;
    if (file === undefined) return;
    const { after, verified } = this.#stretch(isCut);
    const count = new LineCount().read(file);
    const lines = count.lines(this.#newest);
    // With --fields, the lines may have no ids.
    if (lines.rows > 0 && lines.first === null) return;
    certify(
      file,
      {
        feed: feedOf(feed, service),
        filters,
        ids: [],
        readAt: range.until ? null : this.#readAt,
        start: after,
        verified,
        lowest: this.#oldest[0] ?? null,
        end: !isCut && this.#feeds.every(({ isAtEnd }) => isAtEnd),
        coverage: { after, gaps: [] },
      },
      { dev: '', ino: '', offset: count.digest.bytes, lines },
    );
  }

  #see(read: ReadFeed, rows: readonly PageRow[], hasMore: boolean): void {
    const times = rows.map(({ at }) => at);
    this.#readAt ??= this.#list.now();
    if (read.isNew)
      this.#serviceTime = Math.max(this.#serviceTime ?? 0, nthNewest(times, PROOF - 1) ?? 0);
    read.see(times, hasMore);
  }

  /** The stretch of post times that is complete in the file: after one time, up to another. */
  #stretch(isCut: boolean): { readonly after: number | null; readonly verified: number | null } {
    const { since, until } = this.#list.range;
    const read = isCut || since === undefined ? (this.#oldest[PROOF - 1] ?? null) : since - 1;
    const provenAfter = Math.max(...this.#feeds.map((feed) => feed.provenAfter));
    const isProven = read !== null && provenAfter < Number.POSITIVE_INFINITY;
    const after = isProven ? Math.max(read, provenAfter) : null;
    const to = Math.min(
      (this.#serviceTime ?? 0) - timing.latenessMs,
      (until ?? Number.POSITIVE_INFINITY) - 1,
    );
    return { after, verified: after === null || to <= after ? null : to };
  }
}

const oldestOf = (times: readonly number[]): readonly number[] =>
  [...times].sort((one, other) => one - other).slice(0, PROOF);

/** What the pages of one feed show of it. */
class ReadFeed {
  isNew = true;
  readonly #end = new Boundary();
  #hasMore = true;
  #oldest: readonly number[] = [];
  readonly #since: number | undefined;

  constructor(since: number | undefined) {
    this.#since = since;
  }

  see(times: readonly (number | null)[], hasMore: boolean): void {
    this.isNew = false;
    this.#hasMore = hasMore;
    for (const at of times) {
      if (at === null) continue;
      this.#oldest = oldestOf([...this.#oldest, at]);
      this.#end.take(this.#since !== undefined && at < this.#since);
    }
  }

  get isAtEnd(): boolean {
    return !this.#end.isReached && !this.#hasMore;
  }

  /** The reported end of the feed proves nothing: more posts may be older than the last ones. */
  get provenAfter(): number {
    if (this.#end.isReached || this.#hasMore) return Number.NEGATIVE_INFINITY;
    return this.#oldest[PROOF - 1] ?? Number.POSITIVE_INFINITY;
  }
}
