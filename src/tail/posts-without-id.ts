import { createHash } from 'node:crypto';
import { createRecentSet } from '../base/recent-set.ts';
import type { PostFields } from './post-row.ts';

/** Counts posts without an id. A post that occurs in several pages and frames counts once. */
export interface NamelessCounter {
  readonly count: number;
  /** Counts the posts that were not counted before; returns whether there were such posts. */
  add(records: readonly PostFields[]): boolean;
}

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

export function createNamelessCounter(): NamelessCounter {
  const seen = createRecentSet(REMEMBERED);
  let count = 0;
  return {
    get count() {
      return count;
    },
    add(records) {
      const before = count;
      for (const record of records) if (seen.add(digestOf(record))) count++;
      return count > before;
    },
  };
}

const digestOf = (record: PostFields): string =>
  createHash('sha256')
    .update(JSON.stringify(FIELDS.map((name) => record[name] ?? null)))
    .digest('base64');
