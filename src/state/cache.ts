import { closeSync, fstatSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ensureFolder, errno, fileFailure, isAbsent, openRegular, readAt } from '../base/files.ts';
import { sha256 } from '../base/sha256.ts';
import {
  answerLine,
  appendToBucket,
  type Bucket,
  type BucketAnswer,
  type CacheKey,
  cacheKey,
  openBucket,
  readAnswer,
  scanLines,
} from './bucket.ts';
import { compact, FORGET_MS, isDue, nameOf } from './compact.ts';
import { listHandles, noteHandle } from './known-handles.ts';

export type { BucketAnswer } from './bucket.ts';

/** Base URL, key and folder of the cache. */
export interface CacheOptions {
  /** The cache folder; if it is undefined, nothing is saved. */
  readonly dir: string | undefined;
  readonly baseUrl: string;
  readonly key: string;
  readonly now: () => number;
  /** Called once if answers cannot be saved. */
  readonly notice?: (text: string) => void;
}

/** Statistics of a cache. */
interface CacheStats {
  readonly path: string | undefined;
  readonly entries: number;
  readonly found: number;
  readonly missing: number;
  readonly bytes: number;
  readonly oldest: number | null;
  readonly newest: number | null;
}

/** The answers that are saved for later runs. */
export interface FileCache {
  get(endpoint: string, subject: string): BucketAnswer | undefined;
  put(endpoint: string, subject: string, answer: BucketAnswer): void;
  stats(): CacheStats;
  /** Removes the answers of this base URL and key; with `every`, those of all base URLs and keys. */
  clear(every?: boolean): void;
  /** The most recently found handles, latest first, for shell completion. */
  listHandles(prefix: string, limit: number): string[];
}

/**
 * The number of bucket files. With this number, a million answers give neither large files nor too many
 * files.
 */
const BUCKETS = 1024;
/**
 * The maximum memory of all open buckets in bytes. Beyond it, the buckets that were opened first are
 * dropped. It is enough for the content of all buckets, as long as they are small.
 */
const MEMORY_BYTES = 48 * 1024 * 1024;
/** The maximum length of a line in characters. Longer answers are not saved; no valid answer is that long. */
const LONGEST_LINE = 256 * 1024;

/**
 * Opens the cached answers of a base URL and key. Each answer is one line in a bucket file, which is chosen
 * by a hash. All processes append to the files; the newest answer of a subject is used. A failing cache never
 * ends a run: unreadable answers are ignored, and a write error is reported once.
 */
export function openCache({ dir, baseUrl, key, now, notice }: CacheOptions): FileCache {
  const all = dir && join(dir, 'answers');
  const folder = all && join(all, sha256(`trdr answers\n${baseUrl}\n${key}`).slice(0, 32));
  // The open buckets by number, in the order in which they were opened.
  const buckets = new Map<number, Bucket>();
  let weight = 0;
  let isReported = false;

  const pathOf = (number: number) => join(folder ?? '', `${number.toString(16).padStart(3, '0')}.ndjson`);

  function find(wanted: CacheKey): BucketAnswer | undefined {
    const bucket = bucketAt(wanted.hash % BUCKETS);
    const before = bucket.weight();
    const answer = bucket.get(wanted, now());
    weight += bucket.weight() - before;
    if (weight > MEMORY_BYTES) dropOldest(bucket);
    return answer;
  }

  function bucketAt(number: number): Bucket {
    const open = buckets.get(number) ?? openBucket(pathOf(number));
    buckets.set(number, open);
    return open;
  }

  /** Drops the buckets that were opened first, but not the one in use, until the rest fits in `MEMORY_BYTES`. */
  function dropOldest(used: Bucket): void {
    for (const [number, bucket] of buckets) {
      if (weight <= MEMORY_BYTES) return;
      if (bucket === used) continue;
      buckets.delete(number);
      weight -= bucket.weight();
    }
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
      if (!isReported)
        notice?.(`answers are not saved for later runs: ${fileFailure('write in', folder, error).message}`);
      isReported = true;
    }
  }

  return {
    get(endpoint, subject) {
      if (folder === undefined) return undefined;
      const wanted = cacheKey(endpoint, subject);
      try {
        return find(wanted);
      } catch {
        return undefined;
      }
    },
    put(endpoint, subject, answer) {
      const wanted = cacheKey(endpoint, subject);
      const line = answerLine(wanted, answer);
      if (readAnswer(line) === undefined || line.length > LONGEST_LINE) return;
      write((into) => {
        const path = pathOf(wanted.hash % BUCKETS);
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

/** Removes each folder of another key or base URL to which nothing was added for 30 days. */
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

/** The bytes of a bucket file; empty if it cannot be read, for example because another process has just removed it. */
function wholeOf(path: string): Buffer {
  try {
    const fd = openRegular(path);
    try {
      return readAt(fd, 0, fstatSync(fd).size);
    } finally {
      closeSync(fd);
    }
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
