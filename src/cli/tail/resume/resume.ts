import { closeSync, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs';
import { Failure } from '../../../base/failure.ts';
import { fileFailure, isAbsent, LARGEST_CHECKPOINT, readBounded } from '../../../base/files.ts';
import { readStartCheckpoint } from '../../../tail/exec/acknowledged.ts';
import { readCheckpoint } from '../../../tail/output/checkpoint.ts';
import {
  type LineForm,
  mergeResume,
  readTailFile,
  type TailEnd,
  tornId,
} from '../../../tail/output/out-file.ts';
import { timing } from '../../../tail/timing.ts';
import type { Resume, StartPoint } from '../../../tail/walk/bounds.ts';
import { readFileSet } from '../output/file-set.ts';
import { type FilePosition, fileAt, isSameFile, readPosition, renamedFrom } from './position.ts';

/** The files from which a tail can resume. */
export interface ResumeFrom {
  readonly out: string | undefined;
  /**
   * Whether --rotate divides the output into files. If the lines of the present file do not reach back far
   * enough, finished files are read as well.
   */
  readonly rotates?: boolean | undefined;
  readonly checkpoint: string | undefined;
  /** The path of the file with the saved position of `out`. */
  readonly position: string | undefined;
  readonly feed: string;
  readonly timeField: string;
  readonly now: number;
  readonly notice: (text: string) => void;
}

/** Finds out where an earlier run stopped, and removes an incomplete line that a crash left. */
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
  // If the present file reaches back far enough, resume from its lines, which are more recent than any saved
  // position. Finished files do not help: a file between them and the present file may be missing, because
  // another program renamed it.
  const base = given ?? (standing === 'same' && !alone?.young ? undefined : saved);
  const before = position && standing !== 'useless' ? await linesBefore(out, position, standing, from) : none;
  // A post that appeared late has an old post time, so the present file can contain it although other posts of
  // that time are in an earlier file. Therefore, also count the last posts of the previous files as known.
  if (!base) return file?.resume && { ...file.resume, known: [...file.resume.known, ...before.known] };
  const torn = file?.torn;
  const lost = base.known.find(([id, at]) => id === torn && at !== null && at < base.floor);
  if (lost)
    notice(`the last line of ${out} is incomplete, and its post is too old to be read again: ${lost[0]}`);
  const merged = mergeResume(base, file?.resume, [torn, ...before.torn]);
  if (!merged || !position) return merged;
  if (standing === 'moved')
    notice(
      `${out} was moved or deleted while a tail was writing it: starting a new file after the last post in the old one`,
    );
  return { ...merged, lines: [...(merged.lines ?? []), ...before.known] };
}

/** Where to start if an earlier run handed batches over and ended before its first checkpoint. */
export function startedFrom(checkpoint: string | undefined, feed: string): StartPoint | undefined {
  const text = checkpoint === undefined ? undefined : textOf(checkpoint);
  const since = text === undefined ? undefined : readStartCheckpoint(text, feed)?.since;
  return typeof since === 'number' ? { kind: 'since', at: since } : undefined;
}

/**
 * How a saved position relates to the file at its path. `same`: the position belongs to this file. `moved`:
 * its file was moved or deleted while a run was writing it. `useless`: the user has replaced, moved, deleted
 * or emptied its file since the run ended.
 */
function standingOf(out: string, position: FilePosition): 'same' | 'moved' | 'useless' {
  const here = fileAt(out);
  if (!isSameFile(here, position)) return position.ended ? 'useless' : 'moved';
  // If the file is smaller than at the end of the run, the user has emptied it to start over.
  return position.ended && here !== undefined && here.size < position.size ? 'useless' : 'same';
}

function positionResume(position: FilePosition | undefined, feed: string): Resume | undefined {
  if (!position) return undefined;
  try {
    return { ...readCheckpoint(position.checkpoint, feed), kind: 'file' };
  } catch {
    // Ignore a position of another feed or another version of trdr, and use only the output file.
    return undefined;
  }
}

/** The posts in the last lines of renamed files, and the ids in lines that a crash left incomplete. */
interface LinesBefore {
  readonly known: Resume['known'];
  readonly torn: readonly (string | undefined)[];
}

const none: LinesBefore = { known: [], torn: [] };

/** Reads the last lines of the previous output files that were renamed but are still in the same folder. */
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
      // The file was compressed or changed, so its last lines cannot be read, and their posts may be printed
      // again.
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
    throw fileFailure('read', path, error, 'check its permissions, or use a different file');
  }
  try {
    const { size } = fstatSync(fd);
    const read = (from: number, to: number) => {
      const bytes = Buffer.alloc(to - from);
      return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, from));
    };
    const end = await readTailFile({ size, read: async (from, to) => read(from, to) }, form, timing, wanted);
    if (end.keep === size) return { ...end, torn: undefined };
    const rest = read(end.keep, size);
    if (repair) {
      checkTorn(rest, path);
      ftruncateSync(fd, end.keep);
    }
    return { ...end, torn: tornId(rest.toString('utf8')) };
  } finally {
    closeSync(fd);
  }
}

/**
 * Before an incomplete last line is removed, checks that a tail can have written it: it must begin like a
 * record, or with the NUL bytes that a power failure leaves.
 */
function checkTorn(rest: Buffer, path: string): void {
  if (rest[0] === 0x7b || rest[0] === 0) return;
  throw new Failure('local', `${path} is not the output of a tail: its last line is not a record`, {
    code: 'TAIL_FILE',
    hint: 'use a different file; this one was not changed',
  });
}

function textOf(path: string): string | undefined {
  try {
    return readBounded(path, LARGEST_CHECKPOINT);
  } catch (error) {
    throw fileFailure('read', path, error, 'check its permissions, or use a different file');
  }
}
