import { renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileFailure, readBounded, realPath, statsOf, syncFolder } from '../../base/files.ts';
import { writeAtomic } from '../../base/replace-file.ts';
import { type Certificate, type FileLines, type Filters, linkTo } from '../certificate.ts';
import { certificateIn, certificateText, type FilePlace, type Position } from '../position.ts';
import { fileAt, isAt } from './followed-file.ts';
import { LineCount } from './line-count.ts';
import { finishedFiles, finishedName, unpackedName } from './rotation.ts';

/** The maximum size of a certificate that is read; a position can have many ids. */
const LARGEST = 256 * 1024 * 1024;

const certificatePath = (file: string): string => `${file}.trdr`;

/** Reads the certificate beside a file; undefined without one, `'damaged'` if its text is. */
export function certificateAt(file: string): Certificate | 'damaged' | undefined {
  const path = certificatePath(file);
  let text: string | undefined;
  try {
    text = readBounded(path, LARGEST);
  } catch (error) {
    throw fileFailure('read', path, error, 'move it aside: a certificate is a regular file');
  }
  return text === undefined ? undefined : certificateIn(text);
}

export function certify(file: string, position: Position, place: FilePlace): void {
  const text = certificateText({ ...position, file: place });
  if (text !== undefined) writeAtomic(certificatePath(file), text, { private: false });
}

/** The newest post time in the file of a position, and in the files that it continues. */
const newestOf = (position: Position): number | null =>
  position.ids.reduce(
    (newest: number | null, [, at]) => (at === null ? newest : Math.max(newest ?? at, at)),
    position.file?.lines?.newest ?? position.verified,
  );

/** Whether the posts of a run are chosen as in the run that it continues. */
export const isSameChoice = (
  position: Pick<Position, 'filters'> | undefined,
  filters: Filters,
): boolean => JSON.stringify(position?.filters ?? {}) === JSON.stringify(filters);

/**
 * Finishes the file of an earlier run with other filters, as --rotate does: what it proves stays
 * proved. Returns the new name; undefined if there is nothing to finish.
 */
export function finishPart(
  out: string,
  position: Position,
  { timeField, now }: { readonly timeField: string; readonly now: number },
): string | undefined {
  const { file, coverage } = position;
  if (!file?.lines || !coverage || !isAt(out, file)) return undefined;
  const count = new LineCount(file.lines, file.offset).read(out, file.offset);
  const lines = count.lines(newestOf(position));
  if (lines.rows === 0) return undefined;
  const target = realPath(out);
  const name = finishedName(target, timeField, now);
  certify(name, position, { ...file, offset: count.digest.bytes, lines });
  renameSync(target, name);
  syncFolder(dirname(target));
  return name;
}

/**
 * What is not certain is not claimed: other filters, missing lines and a lost position begin a new
 * stretch.
 */
export function resumeLines(
  out: string,
  position: Position | undefined,
  filters: Filters,
): {
  readonly position: Position | undefined;
  readonly place: Pick<FilePlace, 'offset' | 'lines'>;
} {
  const size = statsOf(out)?.size;
  const newest = position && newestOf(position);
  const again = (after: number | null): Position | undefined =>
    position && { ...position, filters, coverage: { after, gaps: [] } };
  const claimed = isSameChoice(position, filters)
    ? position && { ...position, filters }
    : again(position?.verified ?? null);
  const counted = (count: LineCount, from = 0) => {
    if (size !== undefined) count.read(out, from);
    return { offset: count.digest.bytes, lines: count.lines(newest ?? null) };
  };
  const saved = position?.file;
  if (!saved) return { position: claimed, place: counted(new LineCount()) };
  const { lines, offset } = saved;
  const isAlone = saved.dev === '';
  if (!isAlone && !isAt(out, saved)) {
    const before = continuing(out, position, lines, newest ?? null);
    return { position: claimed, place: counted(new LineCount(before)) };
  }
  const savedLines = size !== undefined && size >= offset ? lines : undefined;
  if (savedLines && !isAlone)
    return { position: claimed, place: counted(new LineCount(savedLines, offset), offset) };
  // Nothing is known of the file but its certificate, so check it.
  const isWhole =
    savedLines && new LineCount().read(out, 0, offset).lines(null).digest === savedLines.digest;
  return { position: isWhole ? claimed : again(newest ?? null), place: counted(new LineCount()) };
}

/**
 * What a new file continues, whose predecessor was moved or deleted after the position was saved.
 */
function continuing(
  out: string,
  position: Position,
  lines: FileLines | undefined,
  newest: number | null,
): Pick<FileLines, 'before' | 'previous'> {
  const { file } = position;
  const moved = file && fileAt(dirname(realPath(out)), file);
  if (moved !== undefined && file && lines && certificateAt(moved) === undefined) {
    const count = new LineCount(lines, file.offset).read(moved, file.offset);
    certify(moved, position, { ...file, offset: count.digest.bytes, lines: count.lines(newest) });
  }
  const predecessor = predecessorOf(out, moved);
  const certificate = predecessor === undefined ? undefined : certificateAt(predecessor);
  const named = certificate && certificate !== 'damaged' ? certificate.lines : lines;
  return { before: newest, previous: named ? linkTo(named) : '' };
}

/**
 * The file that a new file continues: the newest finished one, unless the file of the position was
 * renamed by somebody after that; undefined if it was deleted.
 */
function predecessorOf(out: string, moved: string | undefined): string | undefined {
  const parts = finishedFiles(out);
  const [last] = parts;
  if (moved === undefined) return last?.isCompressed ? unpackedName(last.path) : undefined;
  if (!last || parts.some(({ path }) => path === moved))
    return last ? unpackedName(last.path) : moved;
  const isLater = (statsOf(moved)?.mtimeMs ?? 0) >= (statsOf(last.path)?.mtimeMs ?? 0);
  return isLater ? moved : unpackedName(last.path);
}
