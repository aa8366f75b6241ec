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
import { Failure, usageError } from './failure.ts';

export const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

/** The system's code of an error, such as `ENOENT`; an empty string for other errors. */
export const errno = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

export const isAbsent = (error: unknown): boolean => errno(error) === 'ENOENT' || errno(error) === 'ENOTDIR';

/** Whether an error means that the disk or the user's disk quota is full. */
export const isDiskFull = (error: unknown): boolean => errno(error) === 'ENOSPC' || errno(error) === 'EDQUOT';

/** The hints for failures that the user can usually fix in the same way, whatever the file is for. */
const usualHints: Readonly<Record<string, string>> = {
  EACCES: 'check the permissions of the file and its folder, or use a different path',
  EPERM: 'check the permissions of the file and its folder, or use a different path',
  EROFS: 'use a path on a writable disk',
  EISDIR: 'give the name of a file in that folder',
  ENOTREG: 'use a regular file',
  ENOSPC: 'free some disk space',
  EDQUOT: 'free some disk space',
  EMFILE: 'raise the limit of open files with ulimit -n',
};

/**
 * A failure that states why a file operation failed. Node's own message is not used, because it mostly
 * repeats the path.
 */
export function fileFailure(doing: string, path: string, error: unknown, hint?: string): Failure {
  const code = errno(error);
  const why: Readonly<Record<string, string>> = {
    // A file to write need not exist, but its folder must.
    ENOENT: /^write(?! in$)/.test(doing) ? 'its folder does not exist' : 'it does not exist',
    ENOTDIR: 'a parent of the path is not a folder',
    EISDIR: 'it is a folder',
    ENOTREG: 'it is not a regular file',
    EACCES: 'permission denied',
    EPERM: 'not permitted',
    EROFS: 'the disk is read-only',
    ENOSPC: 'the disk is full',
    EDQUOT: 'the disk quota is used up',
    EFBIG: 'the file is too large',
    EMFILE: 'too many files are open',
    EEXIST: 'a file or folder with this name already exists',
    ELOOP: 'its symbolic links form a loop',
    ENAMETOOLONG: 'its name is too long',
    EIO: 'the disk reported an error',
  };
  const reason = why[code] ?? (code || (error instanceof Error ? error.message : 'unknown error'));
  return new Failure('local', `cannot ${doing} ${path}: ${reason}`, {
    code: code || 'FILE',
    hint: hint ?? usualHints[code],
    cause: error,
  });
}

/** Like `fileFailure`, but returns the error itself if it is a `Failure` or has no system code. */
export const inWords = (doing: string, path: string, error: unknown, hint?: string): unknown =>
  error instanceof Failure || errno(error) === '' ? error : fileFailure(doing, path, error, hint);

/**
 * What is at a path, after following symbolic links; undefined if there is nothing. Throws a Failure that
 * states the reason if the path cannot be looked up, for example because its symbolic links form a loop.
 */
export function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw inWords('access', path, error);
  }
}

export const LARGEST_CHECKPOINT = 256 * 1024 * 1024;

/** Creates a folder that only the user may enter, whatever the umask. An existing folder is not changed. */
export function ensureFolder(folder: string): void {
  try {
    mkdirSync(folder, PRIVATE_FOLDER);
  } catch (error) {
    if (errno(error) === 'EEXIST') return;
    const parent = dirname(folder);
    if (errno(error) !== 'ENOENT' || parent === folder) throw error;
    // Create one level at a time: with a strict umask, a recursive `mkdir` cannot enter the parents that it
    // creates.
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
  // This fails if the file belongs to another user, or if the file system does not support permissions.
  quietly(() => (fstatSync(fd).mode & 0o777) !== PRIVATE_FILE && fchmodSync(fd, PRIVATE_FILE));
  return fd;
}

/**
 * Writes all bytes or throws. A single write call may write fewer bytes than requested when the disk is
 * nearly full.
 */
export function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

/**
 * Resolves symbolic links, including dangling ones, so that two names of the same file give the same path.
 */
export function realPath(path: string): string {
  let target = resolve(path);
  for (let links = 0; links < 40; links++) {
    const link = linkOf(target);
    if (link === undefined) break;
    target = resolve(dirname(target), link);
  }
  try {
    return join(realpathSync(dirname(target)), basename(target));
  } catch {
    return target;
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/**
 * Syncs a folder, so that a rename inside the folder survives a power failure. Does nothing on systems that
 * cannot sync folders.
 */
export function syncFolder(folder: string): void {
  try {
    const fd = openSync(folder, 'r');
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    // Ignore the error: Windows cannot open folders, and some file systems cannot sync them.
  }
}

/**
 * The path of an unused file in a folder, with a name short enough for every file system. The name contains
 * the pid and a time in nanoseconds: loading node:crypto for a random name would take longer than the rest of
 * a short run.
 */
export const temporaryIn = (folder: string): string =>
  join(folder, `.trdr-${process.pid}-${process.hrtime.bigint().toString(36)}.tmp`);

/** Removes a file; failures are ignored, because a file that stays behind does no harm. */
export const discard = (path: string): void => quietly(() => unlinkSync(path));

const NEWLINE = 10;

/**
 * Appends lines with a single write, so that lines of several processes do not mix. If a crash left an
 * incomplete line at the end of the file, adds the missing line break first. Returns the size of the file
 * before and after the write, and whether the file was replaced or removed in the meantime (`gone`).
 */
export function appendLines(path: string, lines: string): { before: number; after: number; gone: boolean } {
  const fd = openPrivate(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT);
  try {
    const before = fstatSync(fd).size;
    const last = Buffer.alloc(1, NEWLINE);
    if (before > 0) readSync(fd, last, 0, 1, before - 1);
    writeAll(fd, Buffer.from(last[0] === NEWLINE ? lines : `\n${lines}`));
    const { size, nlink } = fstatSync(fd);
    return { before, after: size, gone: nlink === 0 };
  } finally {
    closeSync(fd);
  }
}

/** Reads `length` bytes of a file from the position `from`, or fewer if the file ends first. */
export function readAt(fd: number, from: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  for (let read = -1; read !== 0 && done < length; done += read) {
    read = readSync(fd, bytes, done, length - done, from + done);
  }
  return bytes.subarray(0, done);
}

/**
 * Opens a regular file for reading and rejects everything else. The open is non-blocking, because a blocking
 * open of a FIFO waits for a writer and signals cannot interrupt that wait.
 */
export function openRegular(path: string): number {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  const stats = fstatSync(fd);
  if (stats.isFile()) return fd;
  closeSync(fd);
  throw Object.assign(new Error('not a regular file'), { code: stats.isDirectory() ? 'EISDIR' : 'ENOTREG' });
}

function openIfPresent(path: string): number | undefined {
  try {
    return openRegular(path);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/**
 * Reads a regular file of at most `most` bytes; undefined if the file does not exist. Throws if the file is
 * larger.
 */
export function readBounded(path: string, most: number): string | undefined {
  const fd = openIfPresent(path);
  if (fd === undefined) return undefined;
  try {
    const parts: Buffer[] = [];
    let size = 0;
    for (;;) {
      // The size is only an estimate: files in /proc report size 0, and other files may grow.
      const part = Buffer.allocUnsafe(Math.min(most, Math.max(4096, fstatSync(fd).size - size)) + 1);
      const read = readSync(fd, part, 0, part.length, null);
      if (read === 0) return Buffer.concat(parts, size).toString('utf8');
      size += read;
      if (size > most) throw Object.assign(new Error('file too large'), { code: 'EFBIG' });
      parts.push(part.subarray(0, read));
    }
  } finally {
    closeSync(fd);
  }
}

/** Throws a usage error unless the path is an existing folder. */
export function checkFolder(path: string): void {
  const found = statsOf(path);
  if (found === undefined)
    throw usageError(`folder not found: ${path}`, `create it first: mkdir -p '${path}'`);
  if (!found.isDirectory()) throw usageError(`${path} is not a folder`, 'use a path in an existing folder');
}
