import { hash } from 'node:crypto';

const FIRST_SIZE = 1 << 16;

/** Hashes of the ids of posts: a million ids as strings would take ten times as much memory. */
export class PostIds {
  #hashes = new BigUint64Array(FIRST_SIZE);
  /** The same memory as pairs of words, which are written without creating a bigint. */
  #words = new Uint32Array(this.#hashes.buffer);
  #size = 0;

  add(id: Uint8Array): void {
    if (this.#size === this.#hashes.length) this.#grow();
    const text = hash('sha256', id, 'binary');
    this.#words[2 * this.#size] = wordOf(text, 0);
    this.#words[2 * this.#size + 1] = wordOf(text, 4);
    this.#size++;
  }

  /** Adds each of the other posts once. */
  addAll(others: PostIds): void {
    let last: bigint | undefined;
    for (const id of others.#sorted()) {
      if (this.#size === this.#hashes.length) this.#grow();
      if (id !== last) this.#hashes[this.#size++] = id;
      last = id;
    }
  }

  /** Counts the posts that were added again. */
  countRepeated(): number {
    let repeated = 0;
    let last: bigint | undefined;
    for (const id of this.#sorted()) {
      if (id === last) repeated++;
      last = id;
    }
    return repeated;
  }

  #sorted(): BigUint64Array {
    return this.#hashes.subarray(0, this.#size).sort();
  }

  #grow(): void {
    const larger = new BigUint64Array(2 * this.#hashes.length);
    larger.set(this.#hashes);
    this.#hashes = larger;
    this.#words = new Uint32Array(larger.buffer);
  }
}

const wordOf = (text: string, at: number): number =>
  (text.charCodeAt(at) << 24) |
  (text.charCodeAt(at + 1) << 16) |
  (text.charCodeAt(at + 2) << 8) |
  text.charCodeAt(at + 3);
