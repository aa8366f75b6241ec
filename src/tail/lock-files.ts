import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { checkFolder, realPath } from '../base/files.ts';
import { holdLock, type LockHandle } from '../base/lock.ts';

/** Locks the output and other files against other tails. `state` is the folder of this
 * machine's state. Returns a function that unlocks them. */
export function lockFiles(
  state: string | undefined,
  out: string | undefined,
  ...others: readonly (string | undefined)[]
): () => void {
  const targets = [out, ...others].flatMap((path) => (path === undefined ? [] : realPath(path)));
  // Without this check, acquiring the lock would create the folder, even if the path has a typo.
  for (const target of targets) checkFolder(dirname(target));
  const locks: LockHandle[] = [];
  const release = () => {
    for (const lock of locks) lock.release();
  };
  try {
    for (const target of targets) locks.push(holdLock(`${target}.lock`, target));
    // A file with hard links has several names, so also lock it by its inode.
    const stats =
      out === undefined ? undefined : statSync(out, { bigint: true, throwIfNoEntry: false });
    if (out !== undefined && state !== undefined && stats && stats.nlink > 1n)
      locks.push(holdLock(join(state, 'tails', `${stats.dev}-${stats.ino}.lock`), out));
  } catch (error) {
    release();
    throw error;
  }
  return release;
}
