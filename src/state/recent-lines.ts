import { closeSync, fstatSync } from 'node:fs';
import { quietly } from '../base/calls.ts';
import { appendLines, openRegular, readAt } from '../base/files.ts';
import { isHeld, tryLock } from '../base/lock.ts';
import { writeAtomic } from '../base/replace-file.ts';

/** The bytes at the end of a file that are read. A larger file is reduced when lines are added. */
const LARGEST = 256 * 1024;

/**
 * Appends lines to a file that all processes share. A large file is reduced to its latest `max`
 * distinct lines.
 */
export function remember(path: string, lines: readonly string[], max: number): void {
  const text = `${lines.join('\n')}\n`;
  if (appendLines(path, text).after <= LARGEST) return;
  const lock = tryLock(`${path}.lock`);
  if (!isHeld(lock)) return;
  try {
    // A line that another process appends at this moment may be lost, but is added again when it
    // next occurs.
    const latest = [...new Set(remembered(path).reverse())].slice(0, max).reverse();
    writeAtomic(path, `${latest.join('\n')}\n`, { sync: false, temporary: `${path}.tmp` });
  } finally {
    lock.release();
  }
}

/** The lines of a file, oldest first; none if it cannot be read. */
export const remembered = (path: string): string[] => quietly(() => latestLines(path)) ?? [];

function latestLines(path: string): string[] {
  const fd = openRegular(path);
  try {
    const { size } = fstatSync(fd);
    const from = Math.max(0, size - LARGEST);
    const lines = readAt(fd, from, size - from)
      .toString('utf8')
      .split('\n')
      .slice(0, -1);
    // The bytes may begin in the middle of a line.
    return from === 0 ? lines : lines.slice(1);
  } finally {
    closeSync(fd);
  }
}
