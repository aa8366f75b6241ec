import { createHash } from 'node:crypto';
import { createRecentSet } from '../base/recent-set.ts';
import type { PostFields } from './post-row.ts';

/** The fields that identify a post that has no id. */
const FIELDS = [
  'thesis',
  'authorHandle',
  'wallet',
  'tokenAddress',
  'coinMint',
  'platformCreatedAt',
  'createdAt',
];
const REMEMBERED = 5_000;

/** Counts posts without an id. A post that occurs in several pages and frames counts once. */
export class NamelessCounter {
  count = 0;
  readonly #seen = createRecentSet(REMEMBERED);

  /** Counts the posts that were not counted before; returns whether there were such posts. */
  add(records: readonly PostFields[]): boolean {
    const before = this.count;
    for (const record of records) if (this.#seen.add(digestOf(record))) this.count++;
    return this.count > before;
  }
}

const digestOf = (record: PostFields): string =>
  createHash('sha256')
    .update(JSON.stringify(FIELDS.map((name) => record[name] ?? null)))
    .digest('base64');
