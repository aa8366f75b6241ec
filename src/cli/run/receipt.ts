import { closeSync, constants, openSync, readFileSync, rmSync } from 'node:fs';
import { usageError } from '../../base/failure.ts';
import { fileFailure, realPath, statsOf, writeAll } from '../../base/files.ts';
import { parseObject } from '../../base/json-object.ts';
import { replaceFile, writeAtomic } from '../../base/replace-file.ts';
import type { Io } from '../io.ts';

/** Longer files are not receipts. */
const MOST_BYTES = 4096;
/** Another one means that a field has another meaning; new fields may come at any time. */
const VERSION = 1;

/**
 * Returns a function that removes an old receipt, which a killed run must not leave behind. Throws
 * at any other file.
 */
export function openReceipt(io: Io, path: string, receipt: () => object): () => void {
  const stats = path === '-' ? undefined : statsOf(path);
  const isOther = stats?.isFile() === false && !stats.isDirectory();
  if (stats?.isFile() && stats.size > 0 && !holdsReceipt(path, stats.size)) {
    throw usageError(
      `${path} is not a receipt, so --receipt does not replace it`,
      'use a different file',
    );
  }
  const inWords = (work: () => void) => {
    try {
      work();
    } catch (error) {
      throw fileFailure('write', path, error);
    }
  };
  io.atExit.add((exit) => {
    const line = `${JSON.stringify({ version: VERSION, ...receipt(), exit })}\n`;
    if (path === '-') io.stderr.write(line);
    else
      inWords(() => (isOther ? writeTo(path, line) : writeAtomic(path, line, { private: false })));
  });
  return () => {
    if (path === '-' || isOther) return;
    inWords(() => {
      replaceFile(path).discard();
      rmSync(realPath(path), { force: true });
    });
  };
}

/** A wrong name after --receipt must not cost the file of that name. */
function holdsReceipt(path: string, size: number): boolean {
  if (size > MOST_BYTES) return false;
  try {
    const { command, calls, cu, exit } = parseObject(readFileSync(path, 'utf8')) ?? {};
    return (
      typeof command === 'string' && [calls, cu, exit].every((count) => typeof count === 'number')
    );
  } catch (error) {
    throw fileFailure('read', path, error);
  }
}

function writeTo(path: string, line: string): void {
  // Without O_NONBLOCK, opening a FIFO waits for a reader.
  const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  try {
    writeAll(fd, Buffer.from(line));
  } finally {
    closeSync(fd);
  }
}
