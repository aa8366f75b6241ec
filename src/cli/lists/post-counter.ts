import { stringifyJson } from '../../base/json.ts';
import type { Sent } from '../../contract/read-record.ts';
import { normalName, normalToken } from '../../core/pages/filter.ts';
import type { PageRow } from '../../core/pages/post.ts';
import { sortBy } from '../../core/pages/sort.ts';
import { dayText } from '../../output/format/time.ts';

/** What `--count-by` accepts in place of a field: the day of the post. */
export const DAY = 'day';

interface Group {
  readonly value: unknown;
  posts: number;
  readonly authors: Set<unknown>;
}

/**
 * Counts posts, and their different authors, by the values of one field. It keeps no posts, so a
 * whole feed can be counted.
 */
export class PostCounter {
  readonly #field: string;
  readonly #authorField: string;
  readonly #nameOf: (author: string) => string;
  readonly #utc: boolean;
  readonly #groups = new Map<string, Group>();

  constructor(field: string, authorField: string, utc: boolean) {
    this.#field = field;
    this.#authorField = authorField;
    // Solana wallets have case; user ids and EVM wallets have none.
    this.#nameOf = authorField === 'wallet' ? normalToken : normalName;
    this.#utc = utc;
  }

  add(post: PageRow): void {
    const value = this.#valueOf(post);
    const key = stringifyJson(value);
    const group = this.#groups.get(key) ?? { value, posts: 0, authors: new Set() };
    this.#groups.set(key, group);
    group.posts++;
    const author = post.record[this.#authorField];
    // A post without an author is by nobody who could be told from others.
    const name = typeof author === 'string' ? this.#nameOf(author) : author;
    if (name !== undefined && name !== null) group.authors.add(name);
  }

  /** A record per value: days from the newest, other values from the most frequent. */
  records(): Sent[] {
    const records = [...this.#groups.values()].map(({ value, posts, authors }) => ({
      [this.#field]: value,
      posts,
      authors: authors.size,
    }));
    return this.#field === DAY
      ? sortBy(records, DAY, true)
      : sortBy(sortBy(records, 'authors', false), 'posts', false);
  }

  #valueOf({ record, at }: PageRow): unknown {
    if (this.#field !== DAY) return record[this.#field] ?? null;
    return at === null ? null : dayText(at, this.#utc);
  }
}
