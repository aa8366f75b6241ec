const EMPTY = 0;
const FIRST_SIZE = 1 << 16;

/**
 * Ids of posts in about 20 bytes each: 64 bits of a hash, and the number of the file in which the
 * id was seen last.
 */
export class IdSet {
  #high = new Uint32Array(FIRST_SIZE);
  #low = new Uint32Array(FIRST_SIZE);
  #file = new Uint16Array(FIRST_SIZE);
  #size = 0;

  /** Adds an id; returns the number of the file in which it was seen before. */
  add(id: Uint8Array, file: number): number | undefined {
    if (2 * this.#size >= this.#high.length) this.#grow();
    const [high, low] = hashOf(id);
    const at = this.#find(high, low);
    const found = this.#file[at] ?? EMPTY;
    this.#put(at, high, low, file + 1);
    if (found !== EMPTY) return found - 1;
    this.#size++;
    return undefined;
  }

  has(id: Uint8Array): boolean {
    return this.#file[this.#find(...hashOf(id))] !== EMPTY;
  }

  #find(high: number, low: number): number {
    const mask = this.#high.length - 1;
    let at = low & mask;
    while (this.#file[at] !== EMPTY && (this.#high[at] !== high || this.#low[at] !== low))
      at = (at + 1) & mask;
    return at;
  }

  #put(at: number, high: number, low: number, file: number): void {
    this.#high[at] = high;
    this.#low[at] = low;
    this.#file[at] = file;
  }

  #grow(): void {
    const [high, low, file] = [this.#high, this.#low, this.#file];
    this.#high = new Uint32Array(2 * high.length);
    this.#low = new Uint32Array(2 * high.length);
    this.#file = new Uint16Array(2 * high.length);
    for (let i = 0; i < file.length; i++) {
      const [one = 0, other = 0, number = EMPTY] = [high[i], low[i], file[i]];
      if (number !== EMPTY) this.#put(this.#find(one, other), one, other, number);
    }
    // Moving the old memory nowhere frees it at once; the garbage collector would wait until more
    // is allocated.
    structuredClone(null, { transfer: [high.buffer, low.buffer, file.buffer] });
  }
}

/** Two FNV-1a hashes with different primes, each mixed as in MurmurHash3. */
function hashOf(bytes: Uint8Array): [high: number, low: number] {
  let one = 0x811c9dc5;
  let other = 0x9e3779b9;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    one = Math.imul(one ^ byte, 0x01000193);
    other = Math.imul(other ^ byte, 0x85ebca6b);
    other ^= other >>> 15;
  }
  return [mixed(one), mixed(other)];
}

function mixed(hash: number): number {
  let value = hash;
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
