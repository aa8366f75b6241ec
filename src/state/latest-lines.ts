import { closeSync, fstatSync } from 'node:fs';
import { openRegular, readAt } from '../base/files.ts';

/** The lines that begin in the last `most` bytes of a file; an empty list if the file cannot be read. */
export function latestLines(path: string, most: number, encoding: BufferEncoding): string[] {
  try {
    const fd = openRegular(path);
    try {
      const { size } = fstatSync(fd);
      const from = Math.max(0, size - most);
      const lines = readAt(fd, from, size - from)
        .toString(encoding)
        .split('\n');
      // The bytes may begin in the middle of a line, so drop the first line.
      return from === 0 ? lines : lines.slice(1);
    } finally {
      closeSync(fd);
    }
  } catch {
    return [];
  }
}
