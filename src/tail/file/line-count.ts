import { closeSync, readSync } from 'node:fs';
import { openRegular } from '../../base/files.ts';
import { parseJson } from '../../base/json.ts';
import { isRecord } from '../../base/json-object.ts';
import { LineDigest } from '../../base/line-digest.ts';
import type { FileLines } from '../certificate.ts';
import { type TailRow, tailRow } from '../post-row.ts';

const CHUNK = 256 * 1024;

/** Keeps up what a certificate states about the lines of a file, while they are appended. */
export class LineCount {
  readonly digest: LineDigest;
  readonly #lines: Partial<FileLines>;
  #first: string | null;

  constructor(lines: Partial<FileLines> = {}, bytes = 0) {
    const { rows = 0, digest = '0', first = null } = lines;
    this.digest = new LineDigest({ rows, bytes, digest });
    this.#lines = lines;
    this.#first = first;
  }

  add(bytes: Uint8Array): void {
    const see = (line: Buffer) => {
      this.#first ??= idIn(line);
    };
    this.digest.add(bytes, this.#first === null ? see : undefined);
  }

  /** Adds the lines of a file from a byte on, up to another one. */
  read(path: string, from = 0, to = Number.POSITIVE_INFINITY): this {
    const fd = openRegular(path);
    try {
      const chunk = Buffer.allocUnsafe(CHUNK);
      for (let at = from; ; ) {
        const read = readSync(fd, chunk, 0, Math.min(CHUNK, to - at), at);
        if (read === 0) return this;
        this.add(chunk.subarray(0, read));
        at += read;
      }
    } finally {
      closeSync(fd);
    }
  }

  /** The present state. `newest` is the newest post time of this file and the files before it. */
  lines(newest: number | null): FileLines {
    const { last: lastBefore = null, before = null, previous = null } = this.#lines;
    const { rows, digest, last } = this.digest;
    return {
      rows,
      digest,
      first: this.#first,
      last: last ? idIn(last) : lastBefore,
      newest,
      before,
      previous,
    };
  }
}

/** The post in a line; null if there is none. */
export function postIn(line: Uint8Array | string, timeField = ''): TailRow | null {
  const record = parseJson(typeof line === 'string' ? line : Buffer.from(line).toString('utf8'));
  return isRecord(record) ? tailRow(record, timeField) : null;
}

const idIn = (line: Buffer): string | null => postIn(line)?.id ?? null;
