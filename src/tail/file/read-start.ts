import { statSync, truncateSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { Failure } from '../../base/failure.ts';
import {
  fileFailure,
  LARGEST_CHECKPOINT,
  readBounded,
  realPath,
  statsOf,
} from '../../base/files.ts';
import {
  continueAfter,
  DAMAGED_CHECKPOINT,
  type FilePlace,
  type Position,
  readPosition,
} from '../position.ts';
import type { PostMark } from '../post-row.ts';
import { timing } from '../timing.ts';
import { certificateAt } from './certify.ts';
import { fileAt, isAt } from './followed-file.ts';
import { positionPath, type TailFiles } from './position-file.ts';
import { finishedFiles, unpackedName } from './rotation.ts';
import { endsLine, removeTornLine } from './torn-line.ts';
import { postsIn } from './written-posts.ts';

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
  // An output with stages writes the lines after the position again.
  const written = place && pathOf(out, place);
  if (place && written && state !== undefined && sizeOf(written) > place.offset)
    truncateSync(written, place.offset);
  const isThere = removeTornLine(out);
  if (saved.position && (reading.isConfluence === true || !isCut(out, saved.position))) {
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
function isCut(out: string, { file: place }: Position): boolean {
  if (!place || place.ino === '') return false;
  const path = pathOf(out, place);
  if (path === undefined || place.offset === 0) return false;
  return sizeOf(path) < place.offset || !endsLine(path, place.offset);
}

/** Where the file that a tail has written is now; undefined if it is no longer in its folder. */
const pathOf = (out: string, place: FilePlace): string | undefined =>
  isAt(out, place) ? out : fileAt(dirname(realPath(out)), place);

const sizeOf = (path: string): number => statsOf(path)?.size ?? 0;

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
  const own = isThere && !isConfluence ? postsIn(out, 0, timeField) : [];
  const [part] = isConfluence ? [] : finishedFiles(out);
  const certified = part && positionOfPart(part.path, part.isCompressed, feed);
  if (part && certified) {
    notice(`${why}: continuing from the certificate of ${basename(part.path)}, the file before it`);
    const ids = newerInParts(out, certified.verified, timeField);
    return continueAfter(certified, [...ids, ...own], feed, timing.latenessMs);
  }
  const isPartRead = own.length === 0 && part !== undefined && !part.isCompressed;
  const lines = isPartRead ? postsIn(part.path, 0, timeField) : own;
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
  const certificate = certificateAt(unpackedName(path));
  if (
    !certificate ||
    certificate === 'damaged' ||
    certificate.feed !== feed ||
    certificate.verified === null
  )
    return undefined;
  const { lines, bytes, coverage, verified, lowest, readAt, filters } = certificate;
  if (!isCompressed && sizeOf(path) < bytes) return undefined;
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
    const marks = isCompressed ? [] : postsIn(path, 0, timeField, verified);
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
  const all = (path: string, from = 0) => postsIn(path, from, timeField);
  if (!place) return isThere ? all(out) : [];
  // Only a certificate is there, of a list for example, whose newest posts may be in its first
  // lines.
  if (place.ino === '') return isThere ? postsIn(out, 0, timeField, verified) : [];
  if (isThere && isAt(out, place)) return all(out, place.offset);
  const lines = isThere ? all(out) : [];
  for (const { path, isCompressed } of finishedFiles(out)) {
    if (isCompressed) break;
    const isLast = isAt(path, place);
    const rows = all(path, isLast ? place.offset : 0);
    // The position covers what was written before the first line that is newer, and all earlier
    // files.
    const isNew = ({ at }: PostMark) => at !== null && verified !== null && at > verified;
    const first = isLast || verified === null ? 0 : rows.findIndex(isNew);
    if (first < 0) break;
    lines.push(...rows.slice(first));
    if (isLast) return lines;
  }
  const renamed = fileAt(dirname(realPath(out)), place);
  notice(`${out} was moved or deleted while a tail was writing it: continuing after its last post`);
  return renamed === undefined ? lines : [...lines, ...all(renamed, place.offset)];
}
