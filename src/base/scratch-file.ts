import { openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { discard, inWords, PRIVATE_FILE, readAt, temporaryIn, writeAll } from './files.ts';

/** So many bytes stay in memory. */
const IN_MEMORY = 4 * 1024 * 1024;

/** So many bytes are read at once: mostly, neighbors are read next. */
const BLOCK = 16 * 1024;

/** Bytes that may be more than memory has room for: the rest is in a file without a name. */
export class ScratchFile {
  readonly #recent = Buffer.allocUnsafe(IN_MEMORY);
  /** The number of bytes in `#recent`, which are the last ones. */
  #length = 0;
  #fd: number | undefined;
  #written = 0;
  /** Where blocks are read to: making room for each takes longer than reading it. */
  #room = Buffer.alloc(0);
  /** The bytes of the file that were read last, and where they begin. */
  #block: Buffer = this.#room;
  #blockStart = 0;

  /** Returns the place of the bytes. */
  add(bytes: Uint8Array): number {
    if (this.#length + bytes.length > IN_MEMORY)
      this.#write(this.#recent.subarray(0, this.#length));
    const place = this.#written + this.#length;
    if (bytes.length > IN_MEMORY) this.#write(bytes);
    else {
      this.#recent.set(bytes, this.#length);
      this.#length += bytes.length;
    }
    return place;
  }

  /** The bytes are valid until others are added or read. */
  read(place: number, length: number): Buffer {
    if (place >= this.#written) return partOf(this.#recent, place - this.#written, length);
    const from = place - this.#blockStart;
    if (from < 0 || from + length > this.#block.length) this.#readBlock(place, length);
    return partOf(this.#block, place - this.#blockStart, length);
  }

  /** Reads the block in which the bytes begin, and what of them is beyond it. */
  #readBlock(place: number, length: number): void {
    if (this.#fd === undefined) return;
    const before = place % BLOCK;
    this.#blockStart = place - before;
    const size = Math.max(BLOCK, before + length);
    if (size > this.#room.length) this.#room = Buffer.allocUnsafe(size);
    this.#block = readAt(this.#fd, this.#blockStart, size, this.#room);
  }

  #write(bytes: Uint8Array): void {
    const folder = tmpdir();
    try {
      this.#fd ??= openUnnamed(folder);
      writeAll(this.#fd, bytes);
    } catch (error) {
      throw inWords('write in', folder, error);
    }
    this.#written += bytes.length;
    this.#length = 0;
  }
}

const partOf = (bytes: Buffer, from: number, length: number): Buffer =>
  bytes.subarray(from, from + length);

/** The file takes no room once the process has ended, however it ends. */
export function openUnnamed(folder: string): number {
  const path = temporaryIn(folder);
  const fd = openSync(path, 'wx+', PRIVATE_FILE);
  discard(path);
  return fd;
}
