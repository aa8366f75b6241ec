import { closeSync, readSync } from 'node:fs';
import { isAbsent, openRegular } from './files.ts';

const CHUNK = 64 * 1024;
const NEWLINE = 10;

/** A line without its end. */
export interface Line {
  /** The bytes; only the first ones if the line is longer than the reader's limit. */
  readonly bytes: Buffer;
  /** From 1. */
  readonly number: number;
  /** True if the line is longer than the limit. The rest of it is skipped. */
  readonly cut: boolean;
}

/** Splits chunks of bytes into lines, in time and memory that do not depend on how long a line is. */
export interface LineSplitter {
  push(chunk: Uint8Array): Generator<Line, void>;
  /** The last line, if it has no end. */
  end(): Generator<Line, void>;
}

/** A line longer than `longest` bytes is given as soon as that is known, cut at the limit. */
export function createLineSplitter(longest: number): LineSplitter {
  let parts: Buffer[] = [];
  let length = 0;
  let number = 1;
  let skipping = false;

  function line(cut: boolean): Line {
    const bytes = Buffer.concat(parts, Math.min(length, longest));
    parts = [];
    length = 0;
    return { bytes, number, cut };
  }

  return {
    *push(given) {
      const chunk = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
      for (let from = 0; from < chunk.length; ) {
        const newline = chunk.indexOf(NEWLINE, from);
        const end = newline === -1 ? chunk.length : newline;
        if (!skipping) {
          const part = chunk.subarray(from, Math.min(end, from + longest - length + 1));
          // The caller may reuse its chunk, and a small part must not keep a large chunk alive.
          parts.push(newline === -1 ? Buffer.from(part) : part);
          length += part.length;
          if (length > longest) {
            yield line(true);
            skipping = true;
          } else if (newline !== -1) yield line(false);
        }
        if (newline === -1) return;
        skipping = false;
        number++;
        from = newline + 1;
      }
    },
    *end() {
      if (length > 0) yield line(false);
    },
  };
}

/**
 * The lines of a file. Empty lines and lines longer than `longest` bytes are left out: trdr writes none. A
 * file that does not exist has no lines.
 */
export function* readLines(path: string, longest = 1024 * 1024): Generator<string> {
  let fd: number;
  try {
    fd = openRegular(path);
  } catch (error) {
    if (isAbsent(error)) return;
    throw error;
  }
  const lines = createLineSplitter(longest);
  const text = function* (some: Iterable<Line>) {
    for (const { bytes, cut } of some) if (!cut && bytes.length > 0) yield bytes.toString('utf8');
  };
  try {
    const chunk = Buffer.allocUnsafe(CHUNK);
    for (let read = -1; read !== 0; ) {
      read = readSync(fd, chunk, 0, CHUNK, null);
      yield* text(lines.push(chunk.subarray(0, read)));
    }
    yield* text(lines.end());
  } finally {
    closeSync(fd);
  }
}
