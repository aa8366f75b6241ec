import { closeSync, readSync } from 'node:fs';
import { isAbsent, openRegular } from './files.ts';

const CHUNK = 64 * 1024;
const NEWLINE = 10;

/**
 * The lines of a file, read in pieces. A last line without its end is given too, and a line longer than
 * `longest` bytes is left out: nothing that trdr writes is. A file that is not there has no lines.
 */
export function* readLines(path: string, longest = 1024 * 1024): Generator<string> {
  let fd: number;
  try {
    fd = openRegular(path);
  } catch (error) {
    if (isAbsent(error)) return;
    throw error;
  }
  try {
    const chunk = Buffer.allocUnsafe(CHUNK);
    let rest: Buffer[] = [];
    let length = 0;
    for (
      let read = readSync(fd, chunk, 0, CHUNK, null);
      read > 0;
      read = readSync(fd, chunk, 0, CHUNK, null)
    ) {
      let from = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1 && end < read; end = chunk.indexOf(NEWLINE, from)) {
        length += end - from;
        if (length > 0 && length <= longest) {
          yield Buffer.concat([...rest, chunk.subarray(from, end)], length).toString('utf8');
        }
        rest = [];
        length = 0;
        from = end + 1;
      }
      length += read - from;
      if (length > longest) rest = [];
      else if (from < read) rest.push(Buffer.from(chunk.subarray(from, read)));
    }
    if (length > 0 && length <= longest) yield Buffer.concat(rest, length).toString('utf8');
  } finally {
    closeSync(fd);
  }
}
