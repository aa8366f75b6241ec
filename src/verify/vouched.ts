import { listOf } from '../contract/read-record.ts';
import type { Verification } from '../contract/records/verification.ts';
import { normalName, normalToken } from '../core/pages/filter.ts';
import type { Certificate, Filters } from '../tail/certificate.ts';
import { type Compared, joinFiles } from './join.ts';
import { PostIds } from './post-ids.ts';
import { certificateOf, scanFile } from './scan.ts';

/** The posts that a run asks of files in place of the service. */
export interface AskedPosts {
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

/** A range of times, in epoch ms. */
export interface AskedRange {
  readonly since: number | undefined;
  readonly until: number | undefined;
}

/** What the certificates of files vouch for in a range. */
export class Vouchers {
  readonly #files: readonly Compared[];
  readonly #range: AskedRange;
  readonly #now: number;
  /** Results by the names of the files, which are the same for most authors. */
  readonly #joined = new Map<string, Verification>();

  constructor(files: readonly Compared[], range: AskedRange, now: number) {
    this.#files = files;
    this.#range = range;
    this.#now = now;
  }

  for(asked: AskedPosts): Vouched {
    const own = this.#files.filter(({ certificate }) => certificate && isOf(certificate, asked));
    const joined = this.#join(own);
    return {
      ...joined,
      // What is beside the range, such as a gap of a file, does not matter.
      isWhole: joined.from !== null && joined.gaps.length === 0 && own.every(isUnchanged),
      hasStart: this.#range.since !== undefined || own.some(({ certificate }) => certificate?.end),
    };
  }

  #join(files: readonly Compared[]): Verification {
    const names = files.map(({ file }) => file).join('\n');
    const before = this.#joined.get(names);
    if (before) return before;
    const { since: from, until } = this.#range;
    const to = until === undefined ? undefined : until - 1;
    const joined = joinFiles(files, { from, to, now: this.#now });
    this.#joined.set(names, joined);
    return joined;
  }
}

const isUnchanged = ({ problems }: Compared): boolean => problems.length === 0;

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
