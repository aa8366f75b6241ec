import { closeSync, readSync } from 'node:fs';
import { openRegular } from '../../../base/files.ts';
import { parseJson } from '../../../base/json.ts';
import { isRecord } from '../../../base/json-object.ts';
import { LineDigest } from '../../../base/line-digest.ts';
import type { FileLines } from '../../../tail/certificate.ts';
import { tailRow } from '../../../tail/post-row.ts';

const CHUNK = 256 * 1024;

/** Keeps up what a certificate states about the lines of a file, while they are appended. */
export class LineCount {
  readonly digest: LineDigest;
  #first: string | null;
  readonly #last: string | null;
  readonly #before: FileLines['before'];
  readonly #previous: FileLines['previous'];

  /** Begins with no lines, or with those that are known. */
  constructor(known: Partial<FileLines> = {}, bytes = 0) {
    const { rows = 0, digest = '0', first = null, last = null, before = null, previous = null } = known;
    this.digest = new LineDigest({ rows, bytes, digest });
    this.#first = first;
    this.#last = last;
    this.#before = before;
    this.#previous = previous;
  }

  add(bytes: Uint8Array): void {
    this.digest.add(bytes, this.#first === null ? (line) => this.#see(line) : undefined);
  }

  /** Adds the lines of a file from a byte on, up to another one. */
  read(path: string, from = 0, to = Number.POSITIVE_INFINITY): this {
    readChunks(path, (chunk) => this.add(chunk), from, to);
    return this;
  }

  /** The present state. `newest` is the newest post time of this file and the files before it. */
  lines(newest: number | null): FileLines {
    const { rows, digest, last } = this.digest;
    return {
      ...{ rows, digest, first: this.#first, last: last ? idIn(last) : this.#last },
      ...{ newest, before: this.#before, previous: this.#previous },
    };
  }

  #see(line: Buffer): void {
    this.#first ??= idIn(line);
  }
}

/** The id of the post in a line; null if there is none. */
function idIn(line: Buffer): string | null {
  const record = parseJson(line.toString('utf8'));
  return isRecord(record) ? (tailRow(record, '')?.id ?? null) : null;
}

/** Reads a file in chunks, which are valid only during the call of `each`. */
function readChunks(path: string, each: (chunk: Buffer) => void, from: number, to: number): void {
  const fd = openRegular(path);
  try {
    const chunk = Buffer.allocUnsafe(CHUNK);
    for (let at = from; ; ) {
      const read = readSync(fd, chunk, 0, Math.min(CHUNK, to - at), at);
      if (read === 0) return;
      each(chunk.subarray(0, read));
      at += read;
    }
  } finally {
    closeSync(fd);
  }
}
