import type { FileHandle } from 'node:fs/promises';
import { openNamelessFile, readWhole, writeWhole } from '../base/nameless-file.ts';
import type { Overflow } from '../contract/answer-ports.ts';

/**
 * Entries begin at multiples of this number of bytes, so that a 32-bit number can address a file of 64 GB.
 */
const UNIT = 16;
const HEAD = 8;
/** The number of bytes that the first read of an entry requests; most entries are shorter. */
const GUESS = 4_096;
const CHUNK = 1024 * 1024;
const FIRST_SLOTS = 1 << 14;

/**
 * Stores answers of a run in a temporary file, one entry per answer. The index in memory is a hash table with
 * eight bytes per slot: the hash of an answer's key, and the position of the answer's entry. The entry contains the
 * key, so that keys with the same hash can be distinguished.
 */
export function openOverflow(): Overflow {
  let opened: Promise<FileHandle> | undefined;
  let closed = false;
  let end = UNIT;
  let count = 0;
  let hashes = new Uint32Array(FIRST_SLOTS);
  let places = new Uint32Array(FIRST_SLOTS);

  function insert(hash: number, place: number): void {
    const mask = hashes.length - 1;
    let slot = hash & mask;
    while (places[slot] !== 0) slot = (slot + 1) & mask;
    hashes[slot] = hash;
    places[slot] = place;
  }

  function add(hash: number, place: number): void {
    if (++count > hashes.length * 0.7) {
      const [oldHashes, oldPlaces] = [hashes, places];
      hashes = new Uint32Array(oldHashes.length * 2);
      places = new Uint32Array(oldHashes.length * 2);
      for (const [slot, at] of oldPlaces.entries()) if (at !== 0) insert(oldHashes[slot] ?? 0, at);
    }
    insert(hash, place);
  }

  function* placesOf(key: string): Generator<number> {
    const hash = hashOf(key);
    const mask = hashes.length - 1;
    for (let slot = hash & mask; places[slot] !== 0; slot = (slot + 1) & mask) {
      if (hashes[slot] === hash) yield places[slot] ?? 0;
    }
  }

  async function read(handle: FileHandle, place: number): Promise<{ key: string; text: string }> {
    const at = place * UNIT;
    let bytes = await readWhole(handle, at, GUESS);
    const keyLength = bytes.readUInt32LE(0);
    const length = HEAD + keyLength + bytes.readUInt32LE(4);
    if (bytes.length < length) bytes = await readWhole(handle, at, length);
    if (bytes.length < length) throw new Error('the temporary file was truncated');
    return {
      key: bytes.toString('utf8', HEAD, HEAD + keyLength),
      text: bytes.toString('utf8', HEAD + keyLength, length),
    };
  }

  return {
    mayHold: (key) => count > 0 && placesOf(key).next().done !== true,
    async put(entries) {
      // The caller writes answers in the background, so a write may arrive after the file was closed.
      if (closed) throw new Error('the temporary file is closed');
      opened ??= openNamelessFile();
      const handle = await opened;
      let parts: Buffer[] = [];
      let size = 0;
      let added: [hash: number, place: number][] = [];
      const flush = async () => {
        if (size === 0) return;
        await writeWhole(handle, Buffer.concat(parts, size), end);
        end += size;
        for (const [hash, place] of added) add(hash, place);
        [parts, size, added] = [[], 0, []];
      };
      for (const [key, text] of entries) {
        const record = recordOf(key, text);
        added.push([hashOf(key), (end + size) / UNIT]);
        parts.push(record);
        size += record.length;
        if (size >= CHUNK) await flush();
      }
      await flush();
    },
    async get(key) {
      if (!opened) return undefined;
      const handle = await opened;
      for (const place of placesOf(key)) {
        const record = await read(handle, place);
        if (record.key === key) return record.text;
      }
      return undefined;
    },
    async close() {
      closed = true;
      await (await opened)?.close();
    },
  };
}

function recordOf(key: string, text: string): Buffer {
  const keyLength = Buffer.byteLength(key);
  const textLength = Buffer.byteLength(text);
  const length = HEAD + keyLength + textLength;
  const record = Buffer.alloc(Math.ceil(length / UNIT) * UNIT);
  record.writeUInt32LE(keyLength, 0);
  record.writeUInt32LE(textLength, 4);
  record.write(key, HEAD);
  record.write(text, HEAD + keyLength);
  return record;
}

/** FNV-1a, followed by the finalizer of MurmurHash3. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
