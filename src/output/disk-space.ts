import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { discard, isDiskFull, PRIVATE_FILE, realPath, temporaryIn, writeAll } from '../base/files.ts';
import { writeFailure } from './sink.ts';

const LEAST_BYTES = 16_384;

/** So that a run whose disk is full ends before it pays. Other programs may be reading the file itself. */
export function checkSpace(path: string, name: string = path): void {
  const temporary = temporaryIn(dirname(realPath(path)));
  let fd: number;
  try {
    fd = openSync(temporary, 'wx', PRIVATE_FILE);
  } catch (error) {
    // A file can grow although its folder is missing or write-protected.
    if (isDiskFull(error)) throw writeFailure(name, error);
    return;
  }
  try {
    writeAll(fd, Buffer.alloc(LEAST_BYTES));
  } catch (error) {
    throw writeFailure(name, error);
  } finally {
    closeSync(fd);
    discard(temporary);
  }
}

/** For the rows of a tail: checks the space, and ends a line that a killed run left incomplete. */
export function prepareFile(fd: number, name: string): void {
  const path = `/proc/self/fd/${fd}`;
  checkSpace(path, name);
  const last = Buffer.from('\n');
  try {
    const { size } = fstatSync(fd);
    const reader = openSync(path, 'r');
    if (size > 0) readSync(reader, last, 0, 1, size - 1);
    closeSync(reader);
  } catch {
    // Only Linux can open the file again, and only if it may be read.
  }
  if (last.toString() === '\n') return;
  try {
    writeSync(fd, '\n');
  } catch (error) {
    throw writeFailure(name, error);
  }
}
