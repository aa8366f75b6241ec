import { hash } from 'node:crypto';

const NEWLINE = 10;
/** The most 32-bit words of which the sum is exact in a double. */
const MOST_SUMS = 2 ** 20;
const WORDS = 4;
const MODULUS = 2n ** 128n;

interface DigestedLines {
  readonly rows: number;
  /** Up to the end of the last complete line. */
  readonly bytes: number;
  /**
   * The sum modulo 2^128 of the first 16 bytes of the SHA-256 of each line, as 32 hexadecimal
   * digits.
   */
  readonly digest: string;
}

/** A digest of lines that does not depend on their order; empty lines do not count. */
export class LineDigest {
  rows: number;
  /** Up to the end of the last complete line. */
  bytes: number;
  /** The last complete line that is not empty. */
  last: Buffer | undefined;
  #base: bigint;
  readonly #sums = new Float64Array(WORDS);
  #summed = 0;
  #torn: Buffer = Buffer.alloc(0);

  constructor({ rows, bytes, digest }: DigestedLines = { rows: 0, bytes: 0, digest: '0' }) {
    this.rows = rows;
    this.bytes = bytes;
    this.#base = BigInt(`0x${digest}`);
  }

  /** The bytes after the last line break. */
  get torn(): number {
    return this.#torn.length;
  }

  /** Adds a chunk, which may begin and end within a line. */
  add(chunk: Uint8Array, onLine?: (line: Buffer) => void): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let last: Buffer | undefined;
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
      let line = bytes.subarray(from, end);
      if (this.#torn.length > 0) {
        line = Buffer.concat([this.#torn, line]);
        this.#torn = Buffer.alloc(0);
      }
      from = end + 1;
      this.bytes += line.length + 1;
      if (line.length === 0) continue;
      this.#sum(line);
      onLine?.(line);
      last = line;
    }
    // Copy what is kept: the caller may reuse the chunk.
    if (last) this.last = Buffer.from(last);
    if (from < bytes.length) this.#torn = Buffer.concat([this.#torn, bytes.subarray(from)]);
  }

  get digest(): string {
    this.#carry();
    return this.#base.toString(16).padStart(32, '0');
  }

  #sum(line: Buffer): void {
    // A string is the cheapest form in which Node returns a digest.
    const text = hash('sha256', line, 'binary');
    const sums = this.#sums;
    for (let word = 0, at = 0; word < WORDS; word++, at += 4) {
      const low =
        (text.charCodeAt(at + 1) << 16) | (text.charCodeAt(at + 2) << 8) | text.charCodeAt(at + 3);
      sums[word] = (sums[word] ?? 0) + text.charCodeAt(at) * 0x1000000 + low;
    }
    this.rows++;
    if (++this.#summed === MOST_SUMS) this.#carry();
  }

  /**
   * Moves the sums of 32-bit words into the exact sum, before they exceed the integers of a double.
   */
  #carry(): void {
    let sum = 0n;
    for (const word of this.#sums) sum = (sum << 32n) + BigInt(word);
    this.#base = (this.#base + sum) % MODULUS;
    this.#sums.fill(0);
    this.#summed = 0;
  }
}
