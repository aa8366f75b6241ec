import { closeSync, readSync } from 'node:fs';
import { isAbsent, openRegular } from './files.ts';

const CHUNK = 64 * 1024;
const NEWLINE = 10;

/** A line without its line break. */
export interface Line {
  /** The bytes; only the first ones if the line exceeds the limit. */
  readonly bytes: Buffer;
  /** Counted from 1. */
  readonly number: number;
  /** Whether the line exceeds the limit. The rest of it is skipped. */
  readonly cut: boolean;
}

/** Splits chunks of bytes into lines. A line of any length needs bounded memory and linear time. */
export interface LineSplitter {
  push(chunk: Uint8Array): Generator<Line, void>;
  /** The last line, if it does not end with a line break. */
  end(): Generator<Line, void>;
}

/** A line that exceeds `longest` bytes is emitted as soon as that is known, cut at the limit. */
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
          // Copy: the caller may reuse its chunk, and a small slice would keep a large chunk in memory.
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
 * The lines of a file. Empty lines and lines of more than `longest` bytes are skipped, because trdr never
 * writes them. A missing file has no lines.
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
