import { closeSync, fstatSync } from 'node:fs';
import { appendLines, openRegular, readAt } from '../base/files.ts';
import { isHeld, tryLock } from '../base/lock.ts';
import { writeAtomic } from '../base/replace-file.ts';

/** Replaces the content up to the position `end`. */
interface Rewritten {
  readonly parts: readonly Uint8Array[];
  readonly end: number;
}

/**
 * Rewrites a file to which other processes append without waiting: what they add before the rename is copied
 * to the new file, and afterwards they notice that the file was replaced, and append again. Does nothing if
 * another process is rewriting it.
 */
export function rewriteFile(path: string, now: number, rewrite: (bytes: Buffer) => Rewritten): void {
  const lock = tryLock(`${path}.lock`, now);
  if (!isHeld(lock)) return;
  try {
    const late = replace(path, rewrite);
    // The old file is closed now, which frees its disk space for these lines.
    if (late.length > 0) appendLines(path, `${late.toString('utf8')}${late.at(-1) === 10 ? '' : '\n'}`);
  } catch {
    // The file is larger than necessary but correct.
  } finally {
    lock.release();
  }
}

/** Returns what other processes appended to the old file in the meantime. */
function replace(path: string, rewrite: (bytes: Buffer) => Rewritten): Buffer {
  const fd = openRegular(path);
  try {
    const { parts, end } = rewrite(readAt(fd, 0, fstatSync(fd).size));
    writeAtomic(path, Buffer.concat(parts), { sync: false, temporary: `${path}.tmp` });
    return readAt(fd, end, Math.max(0, fstatSync(fd).size - end));
  } finally {
    closeSync(fd);
  }
}
