import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, readSync } from 'node:fs';
import { Failure } from '../../base/failure.ts';
import { fileFailure, isAbsent } from '../../base/files.ts';
import { readStartCheckpoint } from '../../tail/exec/acknowledged.ts';
import { readCheckpoint } from '../../tail/output/checkpoint.ts';
import {
  type LineForm,
  mergeResume,
  readTailFile,
  type TailEnd,
  tornId,
} from '../../tail/output/out-file.ts';
import { timing } from '../../tail/timing.ts';
import type { Resume, StartPoint } from '../../tail/walk/bounds.ts';
import { readFileSet } from './file-set.ts';
import { type FilePosition, fileAt, isSameFile, readPosition, renamedFrom } from './position.ts';

/** Where a tail resumes. */
export interface ResumeFrom {
  readonly out: string | undefined;
  /** The output is divided into files; earlier files supply what the current one lacks. */
  readonly rotates?: boolean | undefined;
  readonly checkpoint: string | undefined;
  /** The file with the position of `out`. */
  readonly position: string | undefined;
  readonly feed: string;
  readonly timeField: string;
  readonly now: number;
  readonly notice: (text: string) => void;
}

/** Reads where an earlier run stopped, and removes a line that a crash has torn. */
export async function readResume(from: ResumeFrom): Promise<Resume | undefined> {
  const { out, checkpoint, feed, notice } = from;
  const text = checkpoint === undefined ? undefined : textOf(checkpoint);
  const given =
    text === undefined || readStartCheckpoint(text, feed) ? undefined : readCheckpoint(text, feed);
  if (out === undefined) return given;

  const position = from.position === undefined ? undefined : readPosition(from.position);
  const standing = position && standingOf(out, position);
  const saved = given ?? (standing === 'useless' ? undefined : positionResume(position, feed));
  const alone = await readFile(out, from, saved?.floor);
  const isScratch = alone === undefined && position?.ended === true;
  const set = from.rotates && !isScratch ? await readFileSet(out, alone, from, saved?.floor) : alone;
  const file = set && { ...set, torn: alone?.torn };
  // A file that reaches back far enough is better than a position: it is never older than its own lines.
  // Finished files do not count: a file between them and the current one may have been renamed by another program.
  const base = given ?? (standing === 'same' && !alone?.young ? undefined : saved);
  const before = position && standing !== 'useless' ? await linesBefore(out, position, standing, from) : none;
  // A late post can make a file look older than it is: the last lines of the one before it count as well.
  if (!base) return file?.resume && { ...file.resume, known: [...file.resume.known, ...before.known] };
  const torn = file?.torn;
  const lost = base.known.find(([id, at]) => id === torn && at !== null && at < base.floor);
  if (lost) notice(`the last line of ${out} was torn, and its post is too old to be read again: ${lost[0]}`);
  const merged = mergeResume(base, file?.resume, [torn, ...before.torn]);
  if (!merged || !position) return merged;
  if (standing === 'moved')
    notice(`${out} was moved or deleted while it was written: continuing where it ended`);
  return { ...merged, lines: [...(merged.lines ?? []), ...before.known] };
}

/** The start point of a run that handed batches over, and ended before its first checkpoint. */
export function startedFrom(checkpoint: string | undefined, feed: string): StartPoint | undefined {
  const text = checkpoint === undefined ? undefined : textOf(checkpoint);
  const since = text === undefined ? undefined : readStartCheckpoint(text, feed)?.since;
  return typeof since === 'number' ? { kind: 'since', at: since } : undefined;
}

/** Whether a position still belongs to the file at its path. */
function standingOf(out: string, position: FilePosition): 'same' | 'moved' | 'useless' {
  const here = fileAt(out);
  if (!isSameFile(here, position)) return position.ended ? 'useless' : 'moved';
  // The user emptied the file after a run to start over.
  return position.ended && here !== undefined && here.size < position.size ? 'useless' : 'same';
}

function positionResume(position: FilePosition | undefined, feed: string): Resume | undefined {
  if (!position) return undefined;
  try {
    return { ...readCheckpoint(position.checkpoint, feed), kind: 'file' };
  } catch {
    // The position belongs to another feed or version, so only the file is used.
    return undefined;
  }
}

/** The last lines of files that were renamed, and the ids of those that a crash has torn. */
interface LinesBefore {
  readonly known: Resume['known'];
  readonly torn: readonly (string | undefined)[];
}

const none: LinesBefore = { known: [], torn: [] };

/** The last lines of the previous files at this path, if they were only renamed. */
async function linesBefore(
  out: string,
  position: FilePosition,
  standing: 'same' | 'moved' | undefined,
  form: LineForm,
): Promise<LinesBefore> {
  const identities = standing === 'moved' ? [position, ...position.before] : position.before;
  const known: (readonly [string, number | null])[] = [];
  const torn: (string | undefined)[] = [];
  for (const identity of identities) {
    const path = renamedFrom(out, identity);
    if (path === undefined) continue;
    try {
      const end = await readFile(path, form, undefined, false);
      known.push(...(end?.resume?.known ?? []));
      torn.push(end?.torn);
    } catch {
      // Compressed or changed meanwhile: its last lines are unknown and may be repeated.
    }
  }
  return { known, torn };
}

type FileEnd = TailEnd & { readonly torn: string | undefined };

async function readFile(
  path: string,
  form: LineForm,
  wanted: number | undefined,
  repair = true,
): Promise<FileEnd | undefined> {
  let fd: number;
  try {
    fd = openSync(path, repair ? 'r+' : 'r');
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw fileFailure('read', path, error, 'check its permissions, or name another file');
  }
  try {
    const { size } = fstatSync(fd);
    const read = (from: number, to: number) => {
      const bytes = Buffer.alloc(to - from);
      return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, from));
    };
    const end = await readTailFile({ size, read: async (from, to) => read(from, to) }, form, timing, wanted);
    if (!repair || end.keep === size) return { ...end, torn: undefined };
    const rest = read(end.keep, size);
    checkTorn(rest, path);
    ftruncateSync(fd, end.keep);
    return { ...end, torn: tornId(rest.toString('utf8')) };
  } finally {
    closeSync(fd);
  }
}

/**
 * Only removes text that a tail can have written: a torn line starts like a record, or with the NUL bytes
 * of a power failure.
 */
function checkTorn(rest: Buffer, path: string): void {
  if (rest[0] === 0x7b || rest[0] === 0) return;
  throw new Failure('local', `${path} is not the output of a tail: its last line is not a record`, {
    code: 'TAIL_FILE',
    hint: 'name another file; this one was not changed',
  });
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw fileFailure('read', path, error, 'check its permissions, or name another file');
  }
}
