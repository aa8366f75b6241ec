import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { fileFailure, realPath, statsOf, writeAll } from '../base/files.ts';
import { replaceFile, writeAtomic } from '../base/replace-file.ts';
import type { Io } from './io.ts';

/** Returns a function that removes an old receipt, which a killed run must not leave behind. */
export function openReceipt(io: Io, path: string, receipt: () => object): () => void {
  const stats = path === '-' ? undefined : statsOf(path);
  const isOther = stats?.isFile() === false && !stats.isDirectory();
  const inWords = (work: () => void) => {
    try {
      work();
    } catch (error) {
      throw fileFailure('write', path, error);
    }
  };
  io.atExit.add((exit) => {
    const line = `${JSON.stringify({ ...receipt(), exit })}\n`;
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

function writeTo(path: string, line: string): void {
  // Without O_NONBLOCK, opening a FIFO waits for a reader.
  const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  try {
    writeAll(fd, Buffer.from(line));
  } finally {
    closeSync(fd);
  }
}
