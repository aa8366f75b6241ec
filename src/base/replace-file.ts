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

export type Replacement = ReturnType<typeof replaceFile>;

/**
 * Follows symbolic links, and keeps permissions and owner unless private. Other hard links keep the
 * old content.
 */
export function replaceFile(path: string, isPrivate = false, fixed?: string) {
  const target = realPath(path);
  const old = statsOf(target);
  if (old && !old.isFile()) throw fileError(old.isDirectory() ? 'EISDIR' : 'ENOTREG');
  // Check that the old file is writable. The rename alone would only need write permission for the
  // folder.
  if (old) closeSync(openSync(target, 'r+'));
  const folder = dirname(target);
  // With a fixed name, for targets written under a lock, killed processes leave at most one file
  // behind.
  const temporary = fixed ?? temporaryIn(folder);
  const fd = openSync(
    temporary,
    fixed === undefined ? 'wx+' : 'w+',
    isPrivate ? PRIVATE_FILE : 0o666,
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
  const put = (place: string, sync: boolean, keep: boolean) => {
    try {
      if (sync) syncFile(fd);
      // Windows cannot rename an open file. Elsewhere, only the open file gives access if the
      // folder was deleted.
      if (process.platform === 'win32') close();
      renameSync(temporary, place);
      close();
    } catch (error) {
      if (!keep) undo();
      throw error;
    }
    if (sync) syncFolder(folder);
  };
  try {
    setMode(fd, old, isPrivate);
  } catch (error) {
    undo();
    throw error;
  }
  return {
    /** Open until `commit`, `saveBeside` or `discard`; also after a failed `commit` with `keep`. */
    fd,
    /**
     * With `sync`, the new content survives a power failure. With `keep`, a failed rename leaves
     * the temporary file.
     */
    commit: ({ sync = true, keep = false } = {}) => put(target, sync, keep),
    /**
     * As `.partial` beside the target, or where it can. A sync could fail on a full disk and
     * prevent the rename.
     */
    saveBeside(): string {
      const place = unusedName(`${target}.partial`);
      try {
        put(place, false, true);
        return place;
      } catch {
        const isThere = !open || statsOf(temporary)?.ino === fstatSync(fd).ino;
        const rescued = isThere ? temporary : copyToTemporary(fd);
        close();
        return rescued;
      }
    },
    discard: undo,
  };
}

/** Never overwrites an existing file, because it may contain rows that were paid for. */
function unusedName(name: string): string {
  for (let at = 2, free = name; ; free = `${name}${at++}`) if (!existsSync(free)) return free;
}

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
