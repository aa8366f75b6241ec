import { closeSync, readSync } from 'node:fs';
import { openIfPresent } from './files.ts';

const CHUNK = 64 * 1024;
const NEWLINE = 10;

export interface Line {
  /**
   * At most the limit. Valid until the next line is requested, because the caller may reuse the
   * chunk.
   */
  readonly bytes: Buffer;
  readonly number: number;
  /** Whether the line exceeds the limit; its rest is skipped. */
  readonly cut: boolean;
}

/** With bounded memory and linear time even for endless lines: a line is cut at `longest` bytes. */
export function createLineSplitter(longest: number) {
  let parts: Buffer[] = [];
  let length = 0;
  let number = 1;
  let skipping = false;

  function line(cut: boolean): Line {
    const [only] = parts;
    const isWhole = only !== undefined && only.length === length && length <= longest;
    const bytes = isWhole ? only : Buffer.concat(parts, Math.min(length, longest));
    parts = [];
    length = 0;
    return { bytes, number, cut };
  }

  return {
    *push(given: Uint8Array): Generator<Line, void> {
      const chunk = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
      for (let from = 0; from < chunk.length; ) {
        const newline = chunk.indexOf(NEWLINE, from);
        const end = newline === -1 ? chunk.length : newline;
        if (!skipping) {
          const part = chunk.subarray(from, Math.min(end, from + longest - length + 1));
          // Copy the bytes of an incomplete line: the caller may reuse the chunk.
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
    *end(): Generator<Line, void> {
      if (length > 0) yield line(false);
    },
  };
}

/**
 * From the byte `from` on; none if the file does not exist. Skips lines longer than trdr ever
 * writes.
 */
export function* readLines(path: string, longest = 1024 * 1024, from = 0): Generator<string> {
  const fd = openIfPresent(path);
  if (fd === undefined) return;
  const lines = createLineSplitter(longest);
  const text = function* (some: Iterable<Line>) {
    for (const { bytes, cut } of some) if (!cut && bytes.length > 0) yield bytes.toString('utf8');
  };
  try {
    const chunk = Buffer.allocUnsafe(CHUNK);
    let at = from;
    for (let read = -1; read !== 0; at += read) {
      read = readSync(fd, chunk, 0, CHUNK, at);
      yield* text(lines.push(chunk.subarray(0, read)));
    }
    yield* text(lines.end());
  } finally {
    closeSync(fd);
  }
}
