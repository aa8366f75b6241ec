import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { quietly } from './calls.ts';
import type { Hint } from './failure.ts';
import { Failure, usageError } from './failure.ts';

/** Only the user may read and write the file. */
export const PRIVATE_FILE = 0o600;
/** Only the user may list and enter the folder. */
const PRIVATE_FOLDER = 0o700;

/** The system's code of an error, such as `ENOENT`; an empty string for errors without a code. */
export const errno = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** Whether the path does not exist. */
export const isAbsent = (error: unknown): boolean =>
  errno(error) === 'ENOENT' || errno(error) === 'ENOTDIR';

/** Whether the disk or the user's quota is full. */
export const isDiskFull = (error: unknown): boolean =>
  errno(error) === 'ENOSPC' || errno(error) === 'EDQUOT';

const checkRights = 'check the permissions of the file and its folder, or use a different path';
const words: Readonly<Record<string, readonly [why: string, hint?: string]>> = {
  ENOENT: ['it does not exist'],
  ENOTDIR: ['a parent of the path is not a folder'],
  EISDIR: ['it is a folder', 'give the name of a file in that folder'],
  ENOTREG: ['it is not a regular file', 'use a regular file'],
  EACCES: ['permission denied', checkRights],
  EPERM: ['not permitted', checkRights],
  EROFS: ['the disk is read-only', 'use a path on a writable disk'],
  ENOSPC: ['the disk is full', 'free some disk space'],
  EDQUOT: ['the disk quota is used up', 'free some disk space'],
  EFBIG: ['the file is too large'],
  EMFILE: ['too many files are open', 'raise the limit of open files with ulimit -n'],
  EEXIST: ['a file or folder with this name already exists'],
  ELOOP: ['its symbolic links form a loop'],
  ENAMETOOLONG: ['its name is too long'],
  EIO: ['the disk reported an error'],
};

/** An error with a code, as the system would report it. */
export const fileError = (code: string) => Object.assign(new Error(code), { code });

/**
 * What a run does with a path, as in `cannot read FILE`, and what must be there for it: a file to
 * write need not exist, but its folder must.
 */
const needs = {
  access: 'path',
  'check the budget in': 'path',
  clear: 'path',
  lock: 'path',
  read: 'path',
  'record paid calls in': 'path',
  'read the settings in': 'path',
  'remove the journal': 'path',
  'write in': 'path',
  write: 'folder',
  'write the journal': 'folder',
  'write the settings in': 'folder',
  'write to': 'folder',
} as const satisfies Record<string, 'path' | 'folder'>;

export type FileAct = keyof typeof needs;

/** States why a file operation failed. Node's own message mostly repeats the path. */
export function fileFailure(act: FileAct, path: string, error: unknown, hint?: Hint): Failure {
  const code = errno(error);
  const [why = code || (error instanceof Error ? error.message : 'unknown error'), usual] =
    words[code] ?? [];
  const isFolderMissing = code === 'ENOENT' && needs[act] === 'folder';
  const reason = isFolderMissing ? 'its folder does not exist' : why;
  return new Failure('local', `cannot ${act} ${path}: ${reason}`, {
    code: code || 'FILE',
    hint: hint ?? usual,
    cause: error,
  });
}

/** Like `fileFailure`, but returns a `Failure`, or an error without a system code, as it is. */
export const inWords = (act: FileAct, path: string, error: unknown, hint?: Hint): unknown =>
  error instanceof Failure || errno(error) === '' ? error : fileFailure(act, path, error, hint);

/**
 * What is at a path, after following symbolic links; undefined if nothing is. Throws a Failure if
 * it cannot be looked up, for example because its links form a loop.
 */
export function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw inWords('access', path, error);
  }
}

/** The largest checkpoint that is read, in bytes. */
export const LARGEST_CHECKPOINT = 256 * 1024 * 1024;

/** Creates a folder that only the user may enter, whatever the umask. */
export function ensureFolder(folder: string): void {
  try {
    mkdirSync(folder, PRIVATE_FOLDER);
  } catch (error) {
    if (errno(error) === 'EEXIST') return;
    const parent = dirname(folder);
    if (errno(error) !== 'ENOENT' || parent === folder) throw error;
    // With a strict umask, a recursive `mkdir` cannot enter the parents that it creates.
    ensureFolder(parent);
    try {
      mkdirSync(folder, PRIVATE_FOLDER);
    } catch (again) {
      if (errno(again) !== 'EEXIST') throw again;
      return;
    }
  }
  chmodSync(folder, PRIVATE_FOLDER);
}

/** Opens a file and lets only the user read and write it, whatever the umask. */
function openPrivate(path: string, flags: number | string): number {
  const fd = openSync(path, flags, PRIVATE_FILE);
  // This fails if the file belongs to another user, or if the file system does not support
  // permissions.
  quietly(() => (fstatSync(fd).mode & 0o777) !== PRIVATE_FILE && fchmodSync(fd, PRIVATE_FILE));
  return fd;
}

/** Writes all bytes or throws: a single call may write fewer when the disk is nearly full. */
export function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

/** Resolves symbolic links, also dangling ones, so that two names of a file give the same path. */
export function realPath(path: string): string {
  let target = resolve(path);
  for (let links = 0; links < 40; links++) {
    const link = quietly(() => readlinkSync(target));
    if (link === undefined) break;
    target = resolve(dirname(target), link);
  }
  return quietly(() => join(realpathSync(dirname(target)), basename(target))) ?? target;
}

/**
 * Syncs a folder, so that a rename in it survives a power failure. Windows cannot open folders, and
 * some file systems cannot sync them.
 */
export const syncFolder = (folder: string): void =>
  quietly(() => {
    const fd = openSync(folder, 'r');
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  });

/**
 * The path of an unused file, with a name short enough for every file system. It contains the pid
 * and a time: loading node:crypto for a random name would take longer than the rest of a short run.
 */
export const temporaryIn = (folder: string): string =>
  join(folder, `.trdr-${process.pid}-${process.hrtime.bigint().toString(36)}.tmp`);

/** Failures are ignored, because a file that stays behind does no harm. */
export const discard = (path: string): void => quietly(() => unlinkSync(path));

const NEWLINE = 10;

/**
 * Appends lines with a single write, so that lines of several processes do not mix. Ends a line
 * that a crash cut off. Returns the size before and after.
 */
export function appendLines(path: string, lines: string): { before: number; after: number } {
  const fd = openToAppend(path);
  try {
    const stats = fstatSync(fd);
    // A FIFO would keep nothing, and block a long write for ever.
    if (!stats.isFile()) throw fileError('ENOTREG');
    const before = stats.size;
    const last = Buffer.alloc(1, NEWLINE);
    if (before > 0) readSync(fd, last, 0, 1, before - 1);
    writeAll(fd, Buffer.from(last[0] === NEWLINE ? lines : `\n${lines}`));
    return { before, after: fstatSync(fd).size };
  } finally {
    closeSync(fd);
  }
}

/** Opens a file of lines, and creates it and its folder. */
function openToAppend(path: string): number {
  const open = () => openPrivate(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT);
  try {
    return open();
  } catch (error) {
    if (!isAbsent(error)) throw error;
    ensureFolder(dirname(path));
    return open();
  }
}

/** Reads `length` bytes of a file, or fewer if it ends first. */
export function readAt(
  fd: number,
  from: number,
  length: number,
  bytes = Buffer.allocUnsafe(length),
): Buffer {
  let done = 0;
  for (let read = -1; read !== 0 && done < length; done += read) {
    read = readSync(fd, bytes, done, length - done, from + done);
  }
  return bytes.subarray(0, done);
}

/**
 * Opens a regular file for reading and rejects everything else. The open does not block, because
 * opening a FIFO would wait for a writer, and signals cannot interrupt that wait.
 */
export function openRegular(path: string): number {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  const stats = fstatSync(fd);
  if (stats.isFile()) return fd;
  closeSync(fd);
  throw fileError(stats.isDirectory() ? 'EISDIR' : 'ENOTREG');
}

/** Opens a regular file for reading; undefined if it does not exist. */
export function openIfPresent(path: string): number | undefined {
  try {
    return openRegular(path);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/**
 * Reads a whole file; undefined if it does not exist. Throws if it has more than `maxBytes` bytes.
 */
export function readBounded(path: string, maxBytes: number): string | undefined {
  const fd = openIfPresent(path);
  if (fd === undefined) return undefined;
  try {
    const parts: Buffer[] = [];
    let size = 0;
    for (;;) {
      // The size is only an estimate: files in /proc report size 0, and other files may grow.
      const part = Buffer.allocUnsafe(
        Math.min(maxBytes, Math.max(4096, fstatSync(fd).size - size)) + 1,
      );
      const read = readSync(fd, part, 0, part.length, null);
      if (read === 0) return Buffer.concat(parts, size).toString('utf8');
      size += read;
      if (size > maxBytes) throw fileError('EFBIG');
      parts.push(part.subarray(0, read));
    }
  } finally {
    closeSync(fd);
  }
}

/** Throws a usage error unless the path is an existing folder. */
export function checkFolder(path: string): void {
  const stats = statsOf(path);
  if (stats === undefined)
    throw usageError(`folder not found: ${path}`, `create it first: mkdir -p '${path}'`);
  if (!stats.isDirectory())
    throw usageError(`${path} is not a folder`, 'use a path in an existing folder');
}
