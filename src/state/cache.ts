import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ensureFolder, errno, fileFailure, isAbsent } from '../base/files.ts';
import { sha256 } from '../base/sha256.ts';
import {
  answerLine,
  appendToBucket,
  type Bucket,
  type BucketAnswer,
  cacheKey,
  openBucket,
  readAnswer,
  scanLines,
} from './bucket.ts';
import { compact, FORGET_MS, isDue, nameOf } from './compact.ts';
import { listHandles, noteHandle } from './known-handles.ts';

export type { BucketAnswer } from './bucket.ts';

/** What the cache is kept for, and with. */
export interface CacheOptions {
  /** The cache folder; without one nothing is saved. */
  readonly dir: string | undefined;
  readonly baseUrl: string;
  readonly key: string;
  readonly now: () => number;
  /** Told once, when answers cannot be kept. */
  readonly notice?: (text: string) => void;
}

/** What a cache holds. */
interface CacheStats {
  readonly path: string | undefined;
  readonly entries: number;
  readonly found: number;
  readonly missing: number;
  readonly bytes: number;
  readonly oldest: number | null;
  readonly newest: number | null;
}

/** Answers that outlive a run. */
export interface FileCache {
  get(endpoint: string, subject: string): BucketAnswer | undefined;
  put(endpoint: string, subject: string, answer: BucketAnswer): void;
  stats(): CacheStats;
  /** Forgets the answers of this base URL and key, or all there are. */
  clear(every?: boolean): void;
  /** Handles that were found lately, the latest first: for completion. */
  listHandles(prefix: string, limit: number): string[];
}

/** Enough that a million answers stay quick to find, and few enough not to burden a disk. */
const BUCKETS = 1024;
/** What the indexes of the buckets may take together: those not used for longest are dropped. */
const INDEX_BYTES = 48 * 1024 * 1024;
/** Larger than any record there is. */
const LONGEST_LINE = 256 * 1024;
/**
 * Opens the answers of a base URL and key. They lie in hashed bucket files of one line an answer, which
 * all processes append to; the newest line counts. A cache never fails a run: what cannot be read is not
 * there, and what cannot be written is said once.
 */
export function openCache({ dir, baseUrl, key, now, notice }: CacheOptions): FileCache {
  const all = dir && join(dir, 'answers');
  const folder = all && join(all, sha256(`trdr answers\n${baseUrl}\n${key}`).slice(0, 32));
  // In the order of their last use.
  const buckets = new Map<string, Bucket>();
  let weight = 0;
  let told = false;

  const pathOf = (hash: number) =>
    join(folder ?? '', `${(hash % BUCKETS).toString(16).padStart(3, '0')}.ndjson`);

  function find(path: string, use: (bucket: Bucket) => BucketAnswer | undefined): BucketAnswer | undefined {
    const bucket = buckets.get(path) ?? openBucket(path);
    const before = buckets.delete(path) ? bucket.weight() : 0;
    buckets.set(path, bucket);
    const answer = use(bucket);
    weight += bucket.weight() - before;
    for (const [oldest, { weight: of }] of buckets) {
      if (weight <= INDEX_BYTES || oldest === path) break;
      buckets.delete(oldest);
      weight -= of();
    }
    return answer;
  }

  function write(work: (folder: string) => void): void {
    if (folder === undefined || all === undefined) return;
    try {
      try {
        work(folder);
      } catch (error) {
        if (errno(error) !== 'ENOENT') throw error;
        ensureFolder(folder);
        forgetUnused(all, folder, now());
        work(folder);
      }
    } catch (error) {
      if (!told)
        notice?.(
          `answers are not cached for the next run: ${fileFailure('write in', folder, error).message}`,
        );
      told = true;
    }
  }

  return {
    get(endpoint, subject) {
      if (folder === undefined) return undefined;
      const wanted = cacheKey(endpoint, subject);
      try {
        return find(pathOf(wanted.hash), (bucket) => bucket.get(wanted, now()));
      } catch {
        return undefined;
      }
    },
    put(endpoint, subject, answer) {
      const wanted = cacheKey(endpoint, subject);
      const line = answerLine(wanted, answer);
      if (readAnswer(line) === undefined || line.length > LONGEST_LINE) return;
      write((into) => {
        const path = pathOf(wanted.hash);
        const size = appendToBucket(path, line);
        noteHandle(into, answer.record);
        if (isDue(path, size)) compact(path, now());
      });
    },
    stats: () => ({ path: folder, ...statsOf(folder) }),
    clear(every = false) {
      const path = every ? all : folder;
      buckets.clear();
      weight = 0;
      if (path === undefined) return;
      try {
        rmSync(path, { recursive: true, force: true, maxRetries: 3 });
      } catch (error) {
        if (!isAbsent(error)) throw fileFailure('clear', path, error);
      }
    },
    listHandles: (prefix, limit) => (folder === undefined ? [] : listHandles(folder, prefix, limit)),
  };
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Removes the folders of other keys and base URLs that hold nothing but what is too old to be of use. */
function forgetUnused(all: string, mine: string, now: number): void {
  for (const name of namesIn(all)) {
    const folder = join(all, name);
    if (folder === mine || !/^[0-9a-f]{32}$/.test(name)) continue;
    const used = namesIn(folder).some((file) => {
      const stats = statSync(join(folder, file), { throwIfNoEntry: false });
      return stats !== undefined && now - stats.mtimeMs <= FORGET_MS;
    });
    if (!used) rmSync(folder, { recursive: true, force: true });
  }
}

/** The bytes of a bucket, or none where another process has just cleared it away. */
function wholeOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}

function statsOf(folder: string | undefined): Omit<CacheStats, 'path'> {
  let [entries, found, bytes] = [0, 0, 0];
  let [oldest, newest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const name of folder === undefined ? [] : namesIn(folder)) {
    if (folder === undefined || !/^[0-9a-f]{3}\.ndjson$/.test(name)) continue;
    const text = wholeOf(join(folder, name));
    const latest = new Map<string, BucketAnswer>();
    scanLines(text, (from, end) => {
      const line = text.toString('utf8', from, end);
      const answer = readAnswer(line);
      if (answer) latest.set(nameOf(line), answer);
    });
    bytes += text.length;
    for (const { status, time } of latest.values()) {
      entries++;
      if (status === 200) found++;
      oldest = Math.min(oldest, time);
      newest = Math.max(newest, time);
    }
  }
  const span = entries === 0 ? { oldest: null, newest: null } : { oldest, newest };
  return { entries, found, missing: entries - found, bytes, ...span };
}
