import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  renameSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { discard, isAbsent, PRIVATE_FILE, realPath, syncFolder, temporaryIn, writeAll } from './files.ts';

/** A file that is being replaced: written beside its target, then renamed over it in one step. */
export interface Replacement {
  /** The open temporary file. `commit`, `saveAs` and `discard` close it. */
  readonly fd: number;
  /** Renames the file over its target. `sync` makes that survive a power failure. */
  commit(options?: { readonly sync?: boolean }): void;
  /** Renames the file to another path in the same folder and leaves the target unchanged. */
  saveAs(path: string, options?: { readonly sync?: boolean }): void;
  discard(): void;
}

export interface ReplaceOptions {
  /** For trdr's own files: only the user may read and write, whatever mode the old file had. */
  readonly private?: boolean;
  /**
   * For files that only the holder of a lock writes: a fixed name of the temporary file, so that a killed
   * process leaves at most one behind.
   */
  readonly temporary?: string;
}

/**
 * The only way to replace a file. Symbolic links are followed, also dangling ones. The new file gets the
 * mode and, if permitted, the owner of the old one; without an old one, the umask decides. Write-protected
 * files are not replaced. Other hard links keep the old content.
 */
export function replaceFile(path: string, options: ReplaceOptions = {}): Replacement {
  const target = realPath(path);
  const old = statOf(target);
  if (old?.isDirectory()) throw coded('EISDIR', 'is a directory');
  if (old && !old.isFile()) throw coded('ENOTREG', 'not a regular file');
  // A rename needs permission for the folder only; opening the file shows whether it is write-protected.
  if (old) closeSync(openSync(target, 'r+'));
  const folder = dirname(target);
  const temporary = options.temporary ?? temporaryIn(folder);
  const fd = openSync(
    temporary,
    options.temporary === undefined ? 'wx' : 'w',
    options.private ? PRIVATE_FILE : 0o666,
  );
  let open = true;
  const close = () => {
    if (open) closeSync(fd);
    open = false;
  };
  const undo = () => {
    close();
    discard(temporary);
  };
  const put = (place: string, sync: boolean) => {
    try {
      if (sync) syncFile(fd);
      close();
      renameSync(temporary, place);
    } catch (error) {
      undo();
      throw error;
    }
    if (sync) syncFolder(folder);
  };
  try {
    setMode(fd, old, options.private === true);
  } catch (error) {
    undo();
    throw error;
  }
  return {
    fd,
    commit: ({ sync = true } = {}) => put(target, sync),
    saveAs: (place, { sync = true } = {}) => put(place, sync),
    discard: undo,
  };
}

function statOf(target: string): Stats | undefined {
  try {
    return statSync(target);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

function setMode(fd: number, old: Stats | undefined, isPrivate: boolean): void {
  const mode = isPrivate ? PRIVATE_FILE : old && old.mode & 0o7777;
  if (old && !isPrivate) {
    try {
      fchownSync(fd, old.uid, old.gid);
    } catch {
      // Only root may change the owner of a file.
    }
  }
  if (mode === undefined || (fstatSync(fd).mode & 0o7777) === mode) return;
  try {
    fchmodSync(fd, mode);
  } catch (error) {
    // The file system has no modes. It is an error only if others could read a private file.
    if (isPrivate && (fstatSync(fd).mode & 0o077) !== 0 && process.platform !== 'win32') throw error;
  }
}

function syncFile(fd: number): void {
  try {
    fsyncSync(fd);
  } catch (error) {
    // Some file systems do not support fsync.
    if (
      !(error instanceof Error && 'code' in error && (error.code === 'EINVAL' || error.code === 'ENOTSUP'))
    ) {
      throw error;
    }
  }
}

const coded = (code: string, message: string) => Object.assign(new Error(message), { code });

/** Replaces one of trdr's own files: readers see the old or the new content, even after a crash. */
export function writeAtomic(
  path: string,
  content: string | Uint8Array,
  { sync = true, ...options }: ReplaceOptions & { readonly sync?: boolean } = {},
): void {
  const file = replaceFile(path, { private: true, ...options });
  try {
    writeAll(file.fd, typeof content === 'string' ? Buffer.from(content) : content);
  } catch (error) {
    file.discard();
    throw error;
  }
  file.commit({ sync });
}

const PIECE = 64 * 1024;

/** Replaces a user's file with text that is produced in pieces. */
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
