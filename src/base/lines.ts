import { closeSync, readSync } from 'node:fs';
import { openIfPresent } from './files.ts';

const CHUNK = 64 * 1024;
const NEWLINE = 10;

export interface Line {
  /**
   * The bytes of the line, at most the limit. They are valid until the next line is requested,
   * because the caller may reuse the chunk.
   */
  readonly bytes: Buffer;
  /** The line number; the first line is 1. */
  readonly number: number;
  /** Whether the line exceeds the limit; its rest is skipped. */
  readonly cut: boolean;
}

/**
 * Splits chunks of bytes into lines, with bounded memory and linear time even for endless lines: a
 * line is cut at `longest` bytes, and emitted as soon as it exceeds them.
 */
export class LineSplitter {
  readonly #longest: number;
  /** The pieces of the current line, and their length. */
  #parts: Buffer[] = [];
  #length = 0;
  #number = 1;
  #isSkipping = false;

  constructor(longest: number) {
    this.#longest = longest;
  }

  *push(bytes: Uint8Array): Generator<Line, void> {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let from = 0; from < chunk.length; ) {
      const newline = chunk.indexOf(NEWLINE, from);
      const isEnded = newline !== -1;
      const end = isEnded ? newline : chunk.length;
      if (!this.#isSkipping) {
        this.#keep(chunk.subarray(from, end), isEnded);
        if (this.#length > this.#longest) {
          yield this.#line(true);
          this.#isSkipping = true;
        } else if (isEnded) yield this.#line(false);
      }
      if (!isEnded) return;
      this.#isSkipping = false;
      this.#number++;
      from = newline + 1;
    }
  }

  /** Yields the last line unless it ended with a line break. */
  *end(): Generator<Line, void> {
    if (this.#length > 0) yield this.#line(false);
  }

  #keep(bytes: Buffer, isEnded: boolean): void {
    const part = bytes.subarray(0, this.#longest - this.#length + 1);
    // Copy the bytes of an incomplete line: the caller may reuse the chunk.
    this.#parts.push(isEnded ? part : Buffer.from(part));
    this.#length += part.length;
  }

  #line(cut: boolean): Line {
    const [only] = this.#parts;
    const isWhole =
      only !== undefined && only.length === this.#length && this.#length <= this.#longest;
    const bytes = isWhole
      ? only
      : Buffer.concat(this.#parts, Math.min(this.#length, this.#longest));
    this.#parts = [];
    this.#length = 0;
    return { bytes, number: this.#number, cut };
  }
}

/**
 * The lines of a file from the byte `from` on; none if it does not exist. Skips empty lines, and
 * lines longer than trdr ever writes.
 */
export function* readLines(path: string, longest = 1024 * 1024, from = 0): Generator<string> {
  const fd = openIfPresent(path);
  if (fd === undefined) return;
  const lines = new LineSplitter(longest);
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
