import { dirname } from 'node:path';
import { checkFolder, realPath } from '../base/files.ts';
import { holdLock, type LockHandle } from '../base/lock.ts';

/** Locks files against other tails. Returns a function that unlocks them. */
export function lockFiles(...paths: readonly (string | undefined)[]): () => void {
  const targets = paths.flatMap((path) => (path === undefined ? [] : realPath(path)));
  // Without this check, acquiring the lock would create the folder, even if the path has a typo.
  for (const target of targets) checkFolder(dirname(target));
  const locks: LockHandle[] = [];
  const release = () => {
    for (const lock of locks) lock.release();
  };
  try {
    for (const target of targets) locks.push(holdLock(`${target}.lock`, target));
  } catch (error) {
    release();
    throw error;
  }
  return release;
}
