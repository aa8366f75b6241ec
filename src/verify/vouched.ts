import { listOf } from '../contract/read-record.ts';
import type { Verification } from '../contract/records/verification.ts';
import { normalName, normalToken } from '../core/pages/filter.ts';
import type { Certificate, Filters } from '../tail/certificate.ts';
import { type Compared, joinFiles } from './join.ts';
import { PostIds } from './post-ids.ts';
import { certificateOf, scanFile } from './scan.ts';

/** The posts that a run asks of files in place of the service. */
interface AskedPosts {
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly now: number;
  /** The ids of the authors; empty for all. */
  readonly users: readonly string[];
  /** The addresses of the tokens; empty for all. */
  readonly tokens: readonly string[];
  readonly filters: Filters;
}

/** What certificates vouch for. */
export interface Vouched extends Verification {
  /**
   * Whether they vouch for all posts of the range; of one without a start, from their first one.
   */
  readonly isWhole: boolean;
  /** Whether nothing is older than what they vouch for, or older than the range. */
  readonly hasStart: boolean;
}

/** Compares the files that have certificates with these. */
export async function certifiedFiles(
  files: readonly string[],
  signal: AbortSignal,
): Promise<readonly Compared[]> {
  const ids = new PostIds();
  const scanned: Compared[] = [];
  for (const file of files) {
    if (file === '-' || certificateOf(file) === undefined) continue;
    scanned.push(await scanFile(file, ids, signal));
  }
  return scanned;
}

export function vouchedFor(files: readonly Compared[], asked: AskedPosts): Vouched {
  const { since: from, until, now } = asked;
  const own = files.filter(({ certificate }) => certificate && isOf(certificate, asked));
  const to = until === undefined ? undefined : until - 1;
  const joined = joinFiles(own, { from, to, now });
  return {
    ...joined,
    isWhole: own.length > 0 && joined.status === 'complete',
    hasStart: from !== undefined || own.some(({ certificate }) => certificate?.end),
  };
}

/** Whether a certificate is about all of the posts that are asked for, and perhaps others. */
function isOf({ feed, filters }: Certificate, asked: AskedPosts): boolean {
  const [, user = '', tokens = ''] = /^thesis(?: (\S*)(?: (\S+))?)? of /.exec(feed) ?? [];
  const { users, ...others } = filters;
  const authors = user === '' ? listOf(users).map(String) : [user];
  return (
    feed.startsWith('thesis') &&
    hasAll(authors.map(normalName), asked.users.map(normalName)) &&
    hasAll(tokens.split(',').filter(Boolean), asked.tokens.map(normalToken)) &&
    Object.entries(others).every(
      ([name, value]) => JSON.stringify(asked.filters[name]) === JSON.stringify(value),
    )
  );
}

/** Whether a choice, which is empty for everything, has all of what is asked. */
const hasAll = (choice: readonly string[], asked: readonly string[]): boolean =>
  choice.length === 0 || (asked.length > 0 && asked.every((value) => choice.includes(value)));
