import { closeSync, fstatSync, type Stats, statSync } from 'node:fs';
import { appendLines, openIfPresent, readAt } from '../base/files.ts';
import { parseJson, stringifyJson } from '../base/json.ts';

/** A cached answer: a 200 with its record, or a 404 without one. */
export interface BucketAnswer {
  /** When the service sent the answer, epoch ms. */
  readonly time: number;
  readonly status: 200 | 404;
  /** The record as saved; null if the subject was not found. */
  readonly record: unknown;
}

/** Identifies an answer in the cache: the text with which its line begins, and the hash in that text. */
export interface CacheKey {
  readonly hash: number;
  readonly prefix: string;
}

/** The FNV-1a hash, which is fast. The hash need not be secure. */
function fnv(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

export function cacheKey(endpoint: string, subject: string): CacheKey {
  const name = `${JSON.stringify(endpoint)},${JSON.stringify(subject)}`;
  const hash = fnv(name);
  return { hash, prefix: `["${hash.toString(16).padStart(8, '0')}",${name},` };
}

/** An answer as a line of JSON that begins with its key. */
export const answerLine = ({ prefix }: CacheKey, { status, time, record }: BucketAnswer): string =>
  `${prefix}${status},${time},${stringifyJson(status === 200 ? record : null)}]`;

/** Parses a line; undefined if it is incomplete or not an answer. */
export function readAnswer(line: string): BucketAnswer | undefined {
  const value = parseJson(line);
  if (!Array.isArray(value) || value.length !== 6) return undefined;
  const [, , , status, time, record]: readonly unknown[] = value;
  if ((status !== 200 && status !== 404) || typeof time !== 'number') return undefined;
  return { time, status, record };
}

/**
 * Whether the time of an answer is more than a minute in the future. Such an answer was saved while the clock
 * was wrong, and would expire too late.
 */
export const isAhead = ({ time }: BucketAnswer, now: number): boolean => time > now + 60_000;

const NEWLINE = 10;
const QUOTE = 34;
const BRACKET = 91;
/** The position of the hash in a line: `["`, then eight hex digits, then `"`. */
const HASH_AT = 2;
const HASH_END = 10;

/** The hash at the beginning of a line; -1 if the line is not an answer. */
function hashAt(bytes: Uint8Array, from: number, end: number): number {
  const right = end - from > HASH_END && bytes[from] === BRACKET && bytes[from + 1] === QUOTE;
  if (!right || bytes[from + HASH_END] !== QUOTE) return -1;
  let hash = 0;
  for (let at = from + HASH_AT; at < from + HASH_END; at++) {
    const code = bytes[at] ?? 0;
    const digit = code >= 48 && code <= 57 ? code - 48 : code >= 97 && code <= 102 ? code - 87 : -1;
    if (digit === -1) return -1;
    hash = hash * 16 + digit;
  }
  return hash;
}

/**
 * Calls `each` with the start, end and hash of every answer, and skips other lines. Returns the position
 * after the last complete line.
 */
export function scanLines(bytes: Buffer, each: (from: number, end: number, hash: number) => void): number {
  let from = 0;
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
    const hash = hashAt(bytes, from, end);
    if (hash !== -1) each(from, end, hash);
    from = end + 1;
  }
  return from;
}

/** Only this many bytes at the end of a bucket file are read. A compacted bucket file is never larger. */
const LARGEST = 16 * 1024 * 1024;
/**
 * The content of a bucket file of at most this size stays in memory, which saves three of four system calls
 * per answer.
 */
const HELD_BYTES = 40 * 1024;

/** The index of a bucket file, with 16 bytes of memory per line; for a small file, also its content. */
export interface Bucket {
  /** The newest answer for a cache key. Ignores answers for which `isAhead` is true. */
  get(key: CacheKey, now: number): BucketAnswer | undefined;
  /** Size of the index and the content in bytes. */
  weight(): number;
}

/**
 * Opens a bucket file. A small file is read again when it has changed. A large file is read whole once, and again
 * after each compaction; otherwise, only the lines that were appended since the last read, and the lines of the
 * wanted answers, are read.
 */
export function openBucket(path: string): Bucket {
  let seen: Stats | undefined;
  let content: Buffer | undefined;
  let known = 0;
  let count = 0;
  let hashes = new Uint32Array(0);
  let places = new Float64Array(0);
  let lengths = new Uint32Array(0);

  function add(place: number, length: number, hash: number): void {
    if (count === hashes.length) {
      const room = Math.max(16, count * 2);
      const grow = <A extends { set(from: A): void }>(into: A, from: A): A => {
        into.set(from);
        return into;
      };
      hashes = grow(new Uint32Array(room), hashes);
      places = grow(new Float64Array(room), places);
      lengths = grow(new Uint32Array(room), lengths);
    }
    hashes[count] = hash;
    places[count] = place;
    lengths[count] = length;
    count++;
  }

  function refresh(fd: number): void {
    const now = fstatSync(fd);
    const { size } = now;
    const isSmall = size <= HELD_BYTES;
    if (isSmall || !isSameFile(seen, now) || size < known) {
      known = Math.max(0, size - LARGEST);
      count = 0;
    }
    seen = now;
    const start = known;
    const bytes = size === start ? NO_BYTES : readAt(fd, start, Math.min(size - start, LARGEST));
    known += scanLines(bytes, (from, end, hash) => add(start + from, end - from, hash));
    content = isSmall ? bytes : undefined;
  }

  /** The text of a line, from the content in memory or else from the open file. */
  function lineAt(at: number, fd: number | undefined): string {
    const place = places[at] ?? 0;
    const length = lengths[at] ?? 0;
    if (content) return content.toString('utf8', place, place + length);
    return fd === undefined ? '' : readAt(fd, place, length).toString('utf8');
  }

  function newest({ hash, prefix }: CacheKey, now: number, fd?: number): BucketAnswer | undefined {
    // Use the answer with the latest time; if several have that time, the last of their lines. The order
    // of lines alone is not reliable: a compaction may move an old line behind a newer one.
    let best: BucketAnswer | undefined;
    for (let end = count; end > 0; ) {
      const at = hashes.lastIndexOf(hash, end - 1);
      if (at === -1) break;
      end = at;
      const line = lineAt(at, fd);
      const answer = line.startsWith(prefix) ? readAnswer(line) : undefined;
      if (answer === undefined || isAhead(answer, now)) continue;
      if (answer.time > (best?.time ?? Number.NEGATIVE_INFINITY)) best = answer;
    }
    return best;
  }

  return {
    weight: () => hashes.length * 16 + (content?.length ?? 0),
    get(key, now) {
      if (content && isUnchanged(seen, statSync(path, IF_PRESENT))) return newest(key, now);
      const fd = openIfPresent(path);
      if (fd === undefined) return undefined;
      try {
        refresh(fd);
        return newest(key, now, fd);
      } finally {
        closeSync(fd);
      }
    },
  };
}

const NO_BYTES = Buffer.alloc(0);
const IF_PRESENT = { throwIfNoEntry: false } as const;

/**
 * The inode number alone does not identify a file, because a new file may get the number of a deleted one.
 */
const isSameFile = (one: Stats | undefined, other: Stats): boolean =>
  one?.ino === other.ino && one.birthtimeMs === other.birthtimeMs;

const isUnchanged = (before: Stats | undefined, now: Stats | undefined): boolean =>
  now !== undefined && isSameFile(before, now) && before?.size === now.size && before.mtimeMs === now.mtimeMs;

/**
 * Appends a line to a bucket file. If a compaction replaced the file during the write, appends the line
 * again. Returns the size of the file.
 */
export function appendToBucket(path: string, line: string): number {
  for (let tries = 0; ; tries++) {
    const { after, gone } = appendLines(path, `${line}\n`);
    if (!gone || tries === 3) return after;
  }
}
