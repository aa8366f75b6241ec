import { statSync } from 'node:fs';
import { usage } from '../../contract/failure.ts';
import { realPath } from '../../state/files.ts';
import { type Held, holdLock } from '../../state/lock.ts';

/** The file that a tail appends to and goes on from; undefined for pipes and devices, which keep nothing. */
export function keptFile(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined || found.isFile() || found.isDirectory() ? path : undefined;
}

/** Keeps every other tail off these files; the answer lets them go. */
export function lockFiles(paths: readonly string[]): () => void {
  const targets = paths.map(realPath);
  if (new Set(targets).size < targets.length) {
    throw usage('--out and --checkpoint name the same file', 'give each a file of its own');
  }
  const held: Held[] = [];
  const release = () => {
    for (const lock of held) lock.release();
  };
  try {
    for (const target of targets) held.push(holdLock(`${target}.lock`, target));
  } catch (error) {
    release();
    throw error;
  }
  return release;
}
