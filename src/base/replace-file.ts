import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  renameSync,
  type Stats,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { quietly } from './calls.ts';
import {
  discard,
  errno,
  fileError,
  PRIVATE_FILE,
  readAt,
  realPath,
  statsOf,
  syncFolder,
  temporaryIn,
  writeAll,
} from './files.ts';

const PIECE = 64 * 1024;

/**
 * Starts the replacement of a file: a temporary file beside it, which one atomic rename puts in its
 * place. Symbolic links are followed, and permissions and owner are kept unless the file is
 * private. Other hard links keep the old content.
 *
 * A `fixed` path for the temporary file is for targets that are written under a lock: killed
 * processes then leave at most one file behind.
 */
export function replaceFile(path: string, isPrivate = false, fixed?: string): Replacement {
  const target = realPath(path);
  const old = statsOf(target);
  if (old && !old.isFile()) throw fileError(old.isDirectory() ? 'EISDIR' : 'ENOTREG');
  // Check that the old file is writable: the rename would only need write permission for the
  // folder.
  if (old) closeSync(openSync(target, 'r+'));
  const temporary = fixed ?? temporaryIn(dirname(target));
  const flags = fixed === undefined ? 'wx+' : 'w+';
  const fd = openSync(temporary, flags, isPrivate ? PRIVATE_FILE : 0o666);
  const replacement = new Replacement(target, temporary, fd);
  try {
    setMode(fd, old, isPrivate);
  } catch (error) {
    replacement.discard();
    throw error;
  }
  return replacement;
}

export class Replacement {
  readonly #target: string;
  readonly #temporary: string;
  /** Open until `commit`, `saveBeside` or `discard`; also after a failed `commit` with `keep`. */
  readonly fd: number;
  #isOpen = true;

  constructor(target: string, temporary: string, fd: number) {
    this.#target = target;
    this.#temporary = temporary;
    this.fd = fd;
  }

  /**
   * Replaces the target. With `sync`, the new content survives a power failure. With `keep`, a
   * failed rename leaves the temporary file, so that `saveBeside` can save it.
   */
  commit({ sync = true, keep = false } = {}): void {
    try {
      if (sync) syncFile(this.fd);
      this.#rename(this.#target);
    } catch (error) {
      if (!keep) this.discard();
      throw error;
    }
    if (sync) syncFolder(dirname(this.#target));
  }

  /**
   * Saves the content as `.partial` beside the target, or where it can, and returns the path. It is
   * not synced, because a sync could fail on a full disk and prevent the rename.
   */
  saveBeside(): string {
    const place = unusedName(`${this.#target}.partial`);
    try {
      this.#rename(place);
      return place;
    } catch {
      const rescued = this.#isThere() ? this.#temporary : copyToTemporary(this.fd);
      this.#close();
      return rescued;
    }
  }

  discard(): void {
    this.#close();
    discard(this.#temporary);
  }

  #rename(place: string): void {
    // Windows cannot rename an open file. Elsewhere, only the open file gives access if the folder
    // was deleted.
    if (process.platform === 'win32') this.#close();
    renameSync(this.#temporary, place);
    this.#close();
  }

  /** Whether the temporary file is still at its path. */
  #isThere(): boolean {
    return !this.#isOpen || statsOf(this.#temporary)?.ino === fstatSync(this.fd).ino;
  }

  #close(): void {
    if (this.#isOpen) closeSync(this.fd);
    this.#isOpen = false;
  }
}

/**
 * The first of `name`, `name2`, `name3`... that does not exist: a file there may contain rows that
 * were paid for.
 */
function unusedName(name: string): string {
  for (let at = 2, free = name; ; free = `${name}${at++}`) if (!existsSync(free)) return free;
}

/** Copies an open file that was deleted, and returns the path of the copy. */
function copyToTemporary(fd: number): string {
  const path = temporaryIn(tmpdir());
  const copy = openSync(path, 'wx', PRIVATE_FILE);
  try {
    for (let at = 0; ; ) {
      const bytes = readAt(fd, at, PIECE);
      if (bytes.length === 0) return path;
      writeAll(copy, bytes);
      at += bytes.length;
    }
  } catch (error) {
    discard(path);
    throw error;
  } finally {
    closeSync(copy);
  }
}

function setMode(fd: number, old: Stats | undefined, isPrivate: boolean): void {
  const mode = isPrivate ? PRIVATE_FILE : old && old.mode & 0o7777;
  // Only root may change the owner of a file.
  if (old && !isPrivate) quietly(() => fchownSync(fd, old.uid, old.gid));
  if (mode === undefined || (fstatSync(fd).mode & 0o7777) === mode) return;
  try {
    fchmodSync(fd, mode);
  } catch (error) {
    // The file system has no permissions. Fail only if the file must be private and others can read
    // it.
    if (isPrivate && (fstatSync(fd).mode & 0o077) !== 0 && process.platform !== 'win32')
      throw error;
  }
}

/** Writes what the system has buffered to the disk. */
export function syncFile(fd: number): void {
  try {
    fsyncSync(fd);
  } catch (error) {
    // Some file systems do not support fsync.
    if (errno(error) !== 'EINVAL' && errno(error) !== 'ENOTSUP') throw error;
  }
}

/**
 * Replaces one of trdr's own files. Readers see either the old or the new content, even after a
 * kill.
 */
export function writeAtomic(
  path: string,
  content: string | Uint8Array,
  {
    sync = true,
    private: isPrivate = true,
    temporary,
  }: { readonly sync?: boolean; readonly private?: boolean; readonly temporary?: string } = {},
): void {
  const file = replaceFile(path, isPrivate, temporary);
  try {
    writeAll(file.fd, typeof content === 'string' ? Buffer.from(content) : content);
  } catch (error) {
    file.discard();
    throw error;
  }
  file.commit({ sync });
}

/** Replaces a user's file with text that is produced piece by piece. */
export async function replaceWith(
  path: string,
  text: AsyncIterable<string> | Iterable<string>,
): Promise<void> {
  const file = replaceFile(path);
  try {
    let piece = '';
    for await (const part of text) {
      piece += part;
      if (piece.length < PIECE) continue;
      writeAll(file.fd, Buffer.from(piece));
      piece = '';
    }
    writeAll(file.fd, Buffer.from(piece));
  } catch (error) {
    file.discard();
    throw error;
  }
  file.commit();
}
