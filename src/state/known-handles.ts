import { join } from 'node:path';
import { appendLines } from '../base/files.ts';
import { isHeld, tryLock } from '../base/lock.ts';
import { writeAtomic } from '../base/replace-file.ts';
import { latestLines } from './latest-lines.ts';

/** Handles that a shell accepts without quotes. */
const PLAIN = /^[A-Za-z0-9_.-]{1,64}$/;
/** When the file has more bytes than this, it is reduced to the latest handles. */
const LARGEST = 256 * 1024;
const KEPT = 5_000;

const fileIn = (folder: string) => join(folder, 'handles');

/** Saves the handle of a user record for completion, if a shell accepts it without quotes. */
export function noteHandle(folder: string, record: unknown): void {
  if (typeof record !== 'object' || record === null || !('handle' in record)) return;
  const { handle } = record;
  if (typeof handle !== 'string' || !PLAIN.test(handle)) return;
  const path = fileIn(folder);
  if (appendLines(path, `${handle}\n`).after <= LARGEST) return;
  const lock = tryLock(`${path}.lock`);
  if (!isHeld(lock)) return;
  try {
    // Other processes append without a lock, so a handle that one of them adds at this moment may be lost.
    // The next lookup of that handle adds it again.
    writeAtomic(path, latest(folder, '', KEPT).reverse().join('\n').concat('\n'), {
      sync: false,
      temporary: `${path}.tmp`,
    });
  } finally {
    lock.release();
  }
}

/** The latest handles that begin with `prefix`, ignoring case and a leading @. */
export function listHandles(folder: string, prefix: string, limit: number): string[] {
  return latest(folder, prefix.replace(/^@/, '').toLowerCase(), limit);
}

function latest(folder: string, prefix: string, limit: number): string[] {
  const found = new Map<string, string>();
  for (const handle of latestLines(fileIn(folder), LARGEST, 'latin1').reverse()) {
    if (found.size >= limit) break;
    const name = handle.toLowerCase();
    if (PLAIN.test(handle) && name.startsWith(prefix) && !found.has(name)) found.set(name, handle);
  }
  return [...found.values()];
}
