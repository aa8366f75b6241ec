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

/** A file on its way: written beside its target, and put in its place in one step. */
export interface Replacement {
  /** The open temporary file. Closed by whatever ends the replacement. */
  readonly fd: number;
  /** Puts the file in place. `sync` makes it survive a power cut. */
  commit(options?: { readonly sync?: boolean }): void;
  /** Puts the file at another path in the same folder, and leaves the target as it was. */
  saveAs(path: string): void;
  discard(): void;
}

export interface ReplaceOptions {
  /** For trdr's own files: only the user may read and write, whatever stood there before. */
  readonly private?: boolean;
  /**
   * For files that only the holder of a lock writes: the name of the temporary file. A process that was
   * killed then leaves at most one of them.
   */
  readonly temporary?: string;
}

/**
 * The one way to replace a file. A link is followed, also to a target that does not exist yet. The new file has
 * the mode and, if permitted, the owner of the old one; a new one gets what the umask allows. A file that may not
 * be written to is not replaced. The other names of a hard-linked file keep the old content.
 */
export function replaceFile(path: string, options: ReplaceOptions = {}): Replacement {
  const target = realPath(path);
  const old = statOf(target);
  if (old?.isDirectory()) throw coded('EISDIR', 'is a directory');
  if (old && !old.isFile()) throw coded('ENOTREG', 'not a regular file');
  // Permission to replace a file is that of its folder; opening it tells whether it is write-protected.
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
    saveAs: (place) => put(place, true),
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
      // Only root may give a file away.
    }
  }
  if (mode === undefined || (fstatSync(fd).mode & 0o7777) === mode) return;
  try {
    fchmodSync(fd, mode);
  } catch (error) {
    // A file system without modes. A private file that others could read is worth a failure.
    if (isPrivate && (fstatSync(fd).mode & 0o077) !== 0 && process.platform !== 'win32') throw error;
  }
}

function syncFile(fd: number): void {
  try {
    fsyncSync(fd);
  } catch (error) {
    // Some file systems sync nothing.
    if (
      !(error instanceof Error && 'code' in error && (error.code === 'EINVAL' || error.code === 'ENOTSUP'))
    ) {
      throw error;
    }
  }
}

const coded = (code: string, message: string) => Object.assign(new Error(message), { code });

/** Replaces a file of trdr's own: readers see the old content or the new, also after a crash. */
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

/** Replaces a user's file by a text that comes in pieces. */
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
