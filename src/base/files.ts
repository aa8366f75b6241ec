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

/** Such as `ENOENT`; an empty string for errors without a code. */
export const errno = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

export const isAbsent = (error: unknown): boolean =>
  errno(error) === 'ENOENT' || errno(error) === 'ENOTDIR';

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

export const fileError = (code: string) => Object.assign(new Error(code), { code });

/** States why a file operation failed. Node's own message mostly repeats the path. */
export function fileFailure(doing: string, path: string, error: unknown, hint?: string): Failure {
  const code = errno(error);
  const [why = code || (error instanceof Error ? error.message : 'unknown error'), usual] =
    words[code] ?? [];
  // A file to write need not exist, but its folder must.
  const isFolderMissing = code === 'ENOENT' && /^write(?! in$)/.test(doing);
  const reason = isFolderMissing ? 'its folder does not exist' : why;
  return new Failure('local', `cannot ${doing} ${path}: ${reason}`, {
    code: code || 'FILE',
    hint: hint ?? usual,
    cause: error,
  });
}

/** Like `fileFailure`, but returns a `Failure`, or an error without a system code, as it is. */
export const inWords = (doing: string, path: string, error: unknown, hint?: string): unknown =>
  error instanceof Failure || errno(error) === '' ? error : fileFailure(doing, path, error, hint);

/**
 * Follows symbolic links; undefined if nothing is there. Throws a Failure if that cannot be found
 * out.
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

function openPrivate(path: string, flags: number | string): number {
  const fd = openSync(path, flags, PRIVATE_FILE);
  // This fails if the file belongs to another user, or if the file system does not support
  // permissions.
  quietly(() => (fstatSync(fd).mode & 0o777) !== PRIVATE_FILE && fchmodSync(fd, PRIVATE_FILE));
  return fd;
}

/** A single write call may write fewer bytes than requested when the disk is nearly full. */
export function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

/** Follows symbolic links, also dangling ones, so that two names of a file give the same path. */
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
 * A rename then survives a power failure. Windows cannot open folders; some file systems cannot
 * sync them.
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
 * An unused path with a short name. It has no random name, because loading node:crypto takes too
 * long.
 */
export const temporaryIn = (folder: string): string =>
  join(folder, `.trdr-${process.pid}-${process.hrtime.bigint().toString(36)}.tmp`);

/** Failures are ignored, because a file that stays behind does no harm. */
export const discard = (path: string): void => quietly(() => unlinkSync(path));

const NEWLINE = 10;

/**
 * With a single write, so that lines of several processes do not mix; ends a line that a crash cut
 * off.
 */
export function appendLines(path: string, lines: string): { before: number; after: number } {
  const fd = openPrivate(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT);
  try {
    const before = fstatSync(fd).size;
    const last = Buffer.alloc(1, NEWLINE);
    if (before > 0) readSync(fd, last, 0, 1, before - 1);
    writeAll(fd, Buffer.from(last[0] === NEWLINE ? lines : `\n${lines}`));
    return { before, after: fstatSync(fd).size };
  } finally {
    closeSync(fd);
  }
}

/** May return fewer bytes, if the file ends first. */
export function readAt(fd: number, from: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  for (let read = -1; read !== 0 && done < length; done += read) {
    read = readSync(fd, bytes, done, length - done, from + done);
  }
  return bytes.subarray(0, done);
}

/**
 * Non-blocking, because opening a FIFO would wait for a writer, and signals cannot interrupt that
 * wait.
 */
export function openRegular(path: string): number {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  const stats = fstatSync(fd);
  if (stats.isFile()) return fd;
  closeSync(fd);
  throw fileError(stats.isDirectory() ? 'EISDIR' : 'ENOTREG');
}

export function openIfPresent(path: string): number | undefined {
  try {
    return openRegular(path);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** Undefined if the file does not exist; throws if it has more than `most` bytes. */
export function readBounded(path: string, most: number): string | undefined {
  const fd = openIfPresent(path);
  if (fd === undefined) return undefined;
  try {
    const parts: Buffer[] = [];
    let size = 0;
    for (;;) {
      // The size is only an estimate: files in /proc report size 0, and other files may grow.
      const part = Buffer.allocUnsafe(
        Math.min(most, Math.max(4096, fstatSync(fd).size - size)) + 1,
      );
      const read = readSync(fd, part, 0, part.length, null);
      if (read === 0) return Buffer.concat(parts, size).toString('utf8');
      size += read;
      if (size > most) throw fileError('EFBIG');
      parts.push(part.subarray(0, read));
    }
  } finally {
    closeSync(fd);
  }
}

export function checkFolder(path: string): void {
  const found = statsOf(path);
  if (found === undefined)
    throw usageError(`folder not found: ${path}`, `create it first: mkdir -p '${path}'`);
  if (!found.isDirectory())
    throw usageError(`${path} is not a folder`, 'use a path in an existing folder');
}
