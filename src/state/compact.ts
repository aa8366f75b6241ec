import { closeSync } from 'node:fs';
import { openRegular, readAt } from '../base/files.ts';
import { isAhead, readAnswer, scanLines } from './bucket.ts';
import { rewriteFile } from './rewrite.ts';

/** Answers older than this are removed when their bucket is compacted. */
export const FORGET_MS = 30 * 86_400_000;
/**
 * The maximum size of all answers in a compacted bucket file, in bytes. So the compacted files of one base URL and
 * key have about 1 GB at most.
 * @internal Exported for tests.
 */
export const BUCKET_BYTES = 1024 * 1024;
/** Files smaller than this are not compacted. */
const LEAST_BYTES = 128 * 1024;

/**
 * Whether to compact a bucket file: it is larger than `LEAST_BYTES` and has doubled in size since its last
 * compaction. With this rule, compactions write a number of bytes that is proportional to the appended bytes.
 */
export function isDue(path: string, size: number): boolean {
  return size > LEAST_BYTES && size > 2 * liveOf(path);
}

/** The size of a bucket file after its last compaction, as recorded in its first line; 0 if it was never compacted. */
function liveOf(path: string): number {
  const fd = openRegular(path);
  try {
    return Number(/^\["live",(\d{1,15})\]\n/.exec(readAt(fd, 0, 64).toString('latin1'))?.[1] ?? 0);
  } finally {
    closeSync(fd);
  }
}

/** Rewrites a bucket file with the newest answer for each endpoint and subject. */
export const compact = (path: string, now: number): void =>
  rewriteFile(path, now, (bytes) => {
    const { lines, end } = newest(bytes, now);
    const live = lines.reduce((sum, { from, end: to }) => sum + to - from + 1, 0);
    const kept = lines.map((line) => bytes.subarray(line.from, line.end + 1));
    return { parts: [Buffer.from(`["live",${live}]\n`), ...kept], end };
  });

interface Line {
  readonly from: number;
  readonly end: number;
  readonly time: number;
}

/**
 * The newest line for each endpoint and subject, in the order of the file, and the position after the last complete
 * line. Omits unusable and expired lines, and the oldest lines if the compacted file would be too large.
 */
function newest(bytes: Buffer, now: number): { lines: Line[]; end: number } {
  const byName = new Map<string, Line>();
  const end = scanLines(bytes, (from, to) => {
    const line = bytes.toString('utf8', from, to);
    const answer = readAnswer(line);
    if (answer === undefined || isAhead(answer, now) || now - answer.time > FORGET_MS) return;
    const name = nameOf(line);
    if ((byName.get(name)?.time ?? Number.NEGATIVE_INFINITY) > answer.time) return;
    byName.delete(name);
    byName.set(name, { from, end: to, time: answer.time });
  });
  const lines = [...byName.values()];
  let room = BUCKET_BYTES;
  const kept = new Set<Line>();
  for (const line of lines.toSorted((one, other) => other.time - one.time)) {
    room -= line.end - line.from + 1;
    if (room < 0) break;
    kept.add(line);
  }
  return { lines: lines.filter((line) => kept.has(line)), end };
}

/** The part of a complete line that identifies its endpoint and subject. */
export const nameOf = (line: string) =>
  /^\["[0-9a-f]{8}","(?:[^"\\]|\\.)*","(?:[^"\\]|\\.)*",/.exec(line)?.[0] ?? line;
