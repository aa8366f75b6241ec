import { closeSync, fstatSync, ftruncateSync, openSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { Failure } from '../../base/failure.ts';
import { fileFailure, isAbsent, readAt } from '../../base/files.ts';

/** Whether a line of a file ends at this byte. */
export function endsLine(path: string, size: number): boolean {
  const fd = openSync(path, 'r');
  try {
    return readAt(fd, Math.max(0, size - 1), 1)[0] === NEWLINE;
  } finally {
    closeSync(fd);
  }
}

const NEWLINE = 10;
const PIECE = 64 * 1024;

/**
 * Removes the incomplete last line that a crash left, whose post is not known. Returns whether the
 * file exists.
 */
export function removeTornLine(path: string): boolean {
  let fd: number;
  try {
    fd = openSync(path, 'r+');
  } catch (error) {
    if (isAbsent(error)) return false;
    throw fileFailure('read', path, error, 'check its permissions, or use a different file');
  }
  try {
    const { size } = fstatSync(fd);
    let keep = size;
    for (let to = size; to > 0; to = Math.max(0, to - PIECE)) {
      const start = Math.max(0, to - PIECE);
      const at = readAt(fd, start, to - start).lastIndexOf(NEWLINE);
      keep = at < 0 ? start : start + at + 1;
      if (at >= 0) break;
    }
    if (keep === size) return true;
    // A tail has written it only if it begins like a record, or with the NUL bytes that a power
    // failure leaves.
    const first = readAt(fd, keep, 1)[0];
    if (first !== 0x7b && first !== 0) throw notTailOutput(readAt(fd, keep, 60).toString('utf8'));
    ftruncateSync(fd, keep);
    return true;
  } finally {
    closeSync(fd);
  }
}

/**
 * Removes the incomplete line that a failed write left: what follows the last line break in
 * `bytes`, which end the file. Returns how many bytes were removed.
 */
export async function cutTornLine(handle: FileHandle, bytes: Uint8Array): Promise<number> {
  const torn = bytes.length - (bytes.lastIndexOf(NEWLINE) + 1);
  if (torn === 0) return 0;
  try {
    const { size } = await handle.stat();
    await handle.truncate(Math.max(0, size - torn));
    return torn;
  } catch {
    // The next attempt completes the line.
    return 0;
  }
}

export const notTailOutput = (line: string) =>
  new Failure(
    'local',
    `the output file has a line that is not a record with an id: ${JSON.stringify(line.slice(0, 60))}`,
    {
      code: 'TAIL_FILE',
      hint: 'use a new file, or a file that a tail wrote, whose lines have an id and a post time',
    },
  );
