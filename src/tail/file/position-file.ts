import { closeSync, fstatSync, ftruncateSync, openSync, statSync, truncateSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { Failure } from '../../base/failure.ts';
import {
  fileFailure,
  inWords,
  isAbsent,
  LARGEST_CHECKPOINT,
  readAt,
  readBounded,
  realPath,
  statsOf,
} from '../../base/files.ts';
import { readLines } from '../../base/lines.ts';
import { writeAtomic } from '../../base/replace-file.ts';
import {
  continueAfter,
  DAMAGED_CHECKPOINT,
  type Position,
  positionText,
  readPosition,
} from '../position.ts';
import type { PostMark } from '../post-row.ts';
import { timing } from '../timing.ts';
import { certificateAt } from './certify.ts';
import { fileAt, isAt } from './followed-file.ts';
import { postIn } from './line-count.ts';
import { finishedFiles, unpackedName } from './rotation.ts';

export interface TailFiles {
  readonly out: string | undefined;
  readonly checkpoint: string | undefined;
}

/** Undefined for pipes and devices, from which no run can resume. */
export function resumableOut(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const found = statsOf(path);
  return found === undefined || found.isFile() || found.isDirectory() ? path : undefined;
}

interface FeedService {
  readonly scope?: { readonly baseUrl: string } | undefined;
}

/** The name of a feed in positions and certificates, with its service. */
export const feedOf = (name: string, { scope }: FeedService): string =>
  `${name} of ${scope?.baseUrl ?? 'a service'}`;

/** Where the position of a tail is saved: in the checkpoint, or beside its output. */
export const positionPath = ({ out, checkpoint }: TailFiles): string | undefined =>
  checkpoint ?? (out === undefined ? undefined : `${out}.trdr`);

export function savePosition(path: string, position: Position): void {
  try {
    writeAtomic(path, positionText(position), { private: false });
  } catch (error) {
    throw inWords('write', path, error);
  }
}

interface Reading extends TailFiles {
  readonly feed: string;
  readonly timeField: string;
  readonly notice: (text: string) => void;
  /**
   * Whether the lines of the output are confluences, which do not show where the feed continues.
   */
  readonly isConfluence?: boolean | undefined;
}

/** Finds out where an earlier run stopped, and removes an incomplete line that a crash left. */
export function readStart(reading: Reading): Position | undefined {
  const { out, feed } = reading;
  const path = positionPath(reading);
  if (path === undefined) return undefined;
  const saved = readSaved(path, reading);
  if (out === undefined) return saved.position;
  const { file: place, state } = saved.position ?? {};
  // An output with a state of its own writes the lines after the position again.
  if (state !== undefined && place && isAt(out, place) && (statsOf(out)?.size ?? 0) > place.offset)
    truncateSync(out, place.offset);
  const isThere = repair(out);
  if (saved.position && !isCut(out, saved.position)) {
    const lines = linesBehind(saved.position, out, isThere, reading);
    return continueAfter(saved.position, lines, feed, timing.latenessMs);
  }
  const why = saved.position
    ? cutText(out)
    : `${path} is ${saved.isDamaged ? 'damaged' : 'missing'}`;
  const isReported = saved.position !== undefined || saved.isDamaged === true;
  return withoutPosition(out, isThere, { why, isReported, reading });
}

/** The saved position; `isDamaged` if it cannot be read. */
interface Saved {
  readonly position?: Position;
  readonly isDamaged?: boolean;
}

function readSaved(path: string, { checkpoint, feed }: Reading): Saved {
  let text: string | undefined;
  try {
    text = readBounded(path, LARGEST_CHECKPOINT);
  } catch (error) {
    throw fileFailure('read', path, error, 'check its permissions, or use a different file');
  }
  if (text === undefined) return {};
  try {
    return { position: readPosition(text, feed) };
  } catch (error) {
    const isDamaged = error instanceof Failure && error.code === DAMAGED_CHECKPOINT;
    if (checkpoint !== undefined || !isDamaged) throw error;
    return { isDamaged: true };
  }
}

const cutText = (out: string) => `lines were removed from ${out} after they were written`;

/**
 * Whether somebody has cut the file that the position is about, wherever it is now: a tail saves a
 * position only after the lines before it are on disk. Then ids and `verified` speak of lines that
 * are gone.
 */
function isCut(out: string, { file: place, state }: Position): boolean {
  if (!place || place.ino === '' || state !== undefined) return false;
  const path = isAt(out, place) ? out : fileAt(dirname(realPath(out)), place);
  if (path === undefined || place.offset === 0) return false;
  return (statsOf(path)?.size ?? 0) < place.offset || !endsLine(path, place.offset);
}

interface Lost {
  readonly why: string;
  /** Whether a start without any lines is reported too. */
  readonly isReported: boolean;
  readonly reading: Reading;
}

/**
 * Where a run continues without a position that it can use: from the certificate of the newest file
 * that --rotate has finished, otherwise after the newest post in the lines that are there,
 * otherwise like a new run.
 */
function withoutPosition(
  out: string,
  isThere: boolean,
  { why, isReported, reading }: Lost,
): Position | undefined {
  const { feed, timeField, notice, isConfluence } = reading;
  const unknown = 'whether older posts are missing is not known';
  const own = isThere && !isConfluence ? marksIn(out, 0, timeField) : [];
  const [part] = isConfluence ? [] : finishedFiles(out);
  const certified = part && positionOfPart(part.path, part.isCompressed, feed);
  if (part && certified) {
    notice(`${why}: continuing from the certificate of ${basename(part.path)}, the file before it`);
    const ids = newerInParts(out, certified.verified, timeField);
    return continueAfter(certified, [...ids, ...own], feed, timing.latenessMs);
  }
  const isPartRead = own.length === 0 && part !== undefined && !part.isCompressed;
  const lines = isPartRead ? marksIn(part.path, 0, timeField) : own;
  const start = continueAfter(undefined, lines, feed, timing.latenessMs);
  const from = isPartRead ? part.path : out;
  if (start) notice(`${why}: continuing after the newest post in ${from}; ${unknown}`);
  else if (isReported || part || statsOf(out)?.size)
    notice(`${why}: starting like a new run; ${unknown}`);
  return start;
}

/**
 * The position that the certificate of a finished file is; undefined if it has none, or of another
 * feed, or the file was cut.
 */
function positionOfPart(path: string, isCompressed: boolean, feed: string): Position | undefined {
  const found = certificateAt(unpackedName(path));
  if (!found || found === 'damaged' || found.feed !== feed || found.verified === null)
    return undefined;
  const { lines, bytes, coverage, verified, lowest, readAt, filters } = found;
  if (!isCompressed && (statsOf(path)?.size ?? 0) < bytes) return undefined;
  const { dev, ino } = statSync(path, { bigint: true });
  // A compressed file is not the one that was written, so its place cannot be found.
  const identity = isCompressed ? { dev: '0', ino: '0' } : { dev: String(dev), ino: String(ino) };
  return {
    feed,
    filters,
    start: verified,
    verified,
    lowest,
    readAt,
    ids: [],
    coverage,
    file: { ...identity, offset: bytes, lines },
  };
}

/**
 * The posts after this time in the finished files, newest file first; compressed files are not read
 * back.
 */
function newerInParts(out: string, verified: number | null, timeField: string): PostMark[] {
  const newer: PostMark[][] = [];
  for (const { path, isCompressed } of finishedFiles(out)) {
    const marks = isCompressed ? [] : marksIn(path, 0, timeField, verified);
    if (marks.length === 0) break;
    newer.push(marks);
  }
  return newer.flat();
}

/**
 * The posts in the lines that were written after this place, or in all lines of the file if it is
 * not known.
 */
function linesBehind(
  { file: place, verified }: Pick<Position, 'file' | 'verified'>,
  out: string,
  isThere: boolean,
  { timeField, notice }: Reading,
): PostMark[] {
  const all = (path: string, from = 0) => marksIn(path, from, timeField);
  if (!place) return isThere ? all(out) : [];
  // Only a certificate is there, of a list for example, whose newest posts may be in its first
  // lines.
  if (place.ino === '') return isThere ? marksIn(out, 0, timeField, verified) : [];
  if (isThere && isAt(out, place)) return all(out, place.offset);
  const lines = isThere ? all(out) : [];
  for (const { path, isCompressed } of finishedFiles(out)) {
    if (isCompressed) break;
    const isLast = isAt(path, place);
    const found = all(path, isLast ? place.offset : 0);
    // The position covers what was written before the first line that is newer, and all earlier
    // files.
    const isNew = ({ at }: PostMark) => at !== null && verified !== null && at > verified;
    const first = isLast || verified === null ? 0 : found.findIndex(isNew);
    if (first < 0) break;
    lines.push(...found.slice(first));
    if (isLast) return lines;
  }
  const renamed = fileAt(dirname(realPath(out)), place);
  notice(`${out} was moved or deleted while a tail was writing it: continuing after its last post`);
  return renamed === undefined ? lines : [...lines, ...all(renamed, place.offset)];
}

/** The number of last lines of a file that are certainly read. */
const LINES = 200_000;
const LONGEST_LINE = 16 * 1024 * 1024;

/**
 * The posts in the lines of a file, from a byte on; in all of them if the file was truncated after
 * this was noted.
 */
function marksIn(
  path: string,
  from: number,
  timeField: string,
  after: number | null = null,
): PostMark[] {
  const size = statsOf(path)?.size ?? 0;
  // A truncated file may have grown beyond the byte again, which then is inside a line.
  const start = size < from || (from > 0 && !endsLine(path, from)) ? 0 : from;
  let marks: PostMark[] = [];
  let torn: string | undefined;
  let last: PostMark | undefined;
  for (const text of readLines(path, LONGEST_LINE, start)) {
    if (text.trim() === '') continue;
    if (torn !== undefined) throw notTailOutput(torn);
    const row = postIn(text, timeField);
    // A power failure can leave NUL bytes in place of the last line.
    if (!row && !text.startsWith('\0')) torn = text;
    last = row && (after === null || row.at === null || row.at > after) ? row : undefined;
    if (last) marks.push({ id: last.id, at: last.at });
    if (marks.length > 2 * LINES) marks = marks.slice(-LINES);
  }
  const isWhole = endsLine(path, size);
  if (torn !== undefined && isWhole) throw notTailOutput(torn);
  // A renamed file may end with an incomplete line. Its post is not known, even if only the line
  // end is missing.
  return isWhole || !last ? marks : marks.slice(0, -1);
}

/** Whether a line of a file ends at this byte. */
function endsLine(path: string, size: number): boolean {
  const fd = openSync(path, 'r');
  try {
    return readAt(fd, Math.max(0, size - 1), 1)[0] === NEWLINE;
  } finally {
    closeSync(fd);
  }
}

const NEWLINE = 10;
const PIECE = 64 * 1024;

/** Removes an incomplete last line, whose post is not known. Returns whether the file exists. */
function repair(path: string): boolean {
  let fd: number;
  try {
    fd = openSync(path, 'r+');
  } catch (error) {
    if (isAbsent(error)) return false;
    throw fileFailure('read', path, error, 'check its permissions, or use a different file');
  }
  try {
    const { size } = fstatSync(fd);
    let keep = size;
    for (let to = size; to > 0; to = Math.max(0, to - PIECE)) {
      const start = Math.max(0, to - PIECE);
      const at = readAt(fd, start, to - start).lastIndexOf(NEWLINE);
      keep = at < 0 ? start : start + at + 1;
      if (at >= 0) break;
    }
    if (keep === size) return true;
    // A tail has written it only if it begins like a record, or with the NUL bytes that a power
    // failure leaves.
    const first = readAt(fd, keep, 1)[0];
    if (first !== 0x7b && first !== 0) throw notTailOutput(readAt(fd, keep, 60).toString('utf8'));
    ftruncateSync(fd, keep);
    return true;
  } finally {
    closeSync(fd);
  }
}

const notTailOutput = (line: string) =>
  new Failure(
    'local',
    `the output file has a line that is not a record with an id: ${JSON.stringify(line.slice(0, 60))}`,
    {
      code: 'TAIL_FILE',
      hint: 'use a new file, or a file that a tail wrote, whose lines have an id and a post time',
    },
  );
