import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  unlinkSync,
} from 'node:fs';
import { dirname, sep } from 'node:path';
import { addTo } from '../base/add-to.ts';
import { appendLines, PRIVATE_FILE, readAt, statsOf, syncFolder, writeAll } from '../base/files.ts';
import { parseJson, stringifyJson } from '../base/json.ts';
import { syncFile } from '../base/replace-file.ts';

/** The members of an entry after its key. */
export type Entry = readonly unknown[];

/** Undefined for an entry that is damaged. */
export type ParseEntry<T> = (entry: Entry, key: string) => T | undefined;

/** Whether an entry survives when its file is compacted. */
export type IsKept = (entry: Entry) => boolean;

/**
 * How many files there are. With 200,000 keys, one has about 100 KB, which a single read call
 * brings.
 */
const FILES = 1_024;
/** A smaller file is not worth a rewrite. */
const COMPACT_BYTES = 16 * 1024;
/** A compacted file begins with a line that states how many bytes were live then. */
const HEADER = /^\{"live":(\d{1,12})\}\n/;
const HEADER_BYTES = 32;
const NEWLINE = 10;
const QUOTE = 34;
const HASH_START = 0x811c9dc5;
const HASH_PRIME = 0x01000193;
const READ_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * Entries by key in append-only files, of which the last whole line of a key counts. Readers need
 * no lock: a line that is being written has no line end yet, and a compacted file replaces the old
 * one in one step. Writers must hold one lock for the whole folder, because an append to a file
 * that is being compacted would be lost.
 */
export class KeyedLog {
  /** Grows to the largest file, and is used for every read. */
  #buffer = Buffer.allocUnsafe(64 * 1024);
  readonly #folder: string;
  readonly #isKept: IsKept | undefined;

  /** Every entry is kept unless `isKept` says otherwise. */
  constructor(folder: string, isKept?: IsKept) {
    this.#folder = folder;
    this.#isKept = isKept;
  }

  /**
   * What `parse` makes of the entries of these keys. Each file is read once, whatever the order of
   * the keys.
   */
  read<T>(keys: Iterable<string>, parse: ParseEntry<T>): Map<string, T> {
    const byFile = new Map<number, string[]>();
    for (const key of new Set(keys)) {
      addTo(byFile, numberOf(key), key);
    }
    const values = new Map<string, T>();
    for (const [file, wanted] of byFile) {
      const bytes = this.#load(this.#nameOf(file));
      if (bytes === undefined) continue;
      const places = placesOf(bytes, wanted);
      for (const [index, key] of wanted.entries()) {
        const entry = latestAt(bytes, places[index] ?? [], key);
        const value = entry && parse(entry, key);
        if (value !== undefined) values.set(key, value);
      }
    }
    return values;
  }

  /** Requires the lock. */
  append(entries: ReadonlyMap<string, Entry>): void {
    const byFile = new Map<string, string>();
    for (const [key, entry] of entries) {
      const file = this.#fileOf(key);
      byFile.set(file, `${byFile.get(file) ?? ''}${lineOf(key, entry)}`);
    }
    for (const [file, lines] of byFile) {
      const { before, after } = appendLines(file, lines);
      // All of a new file is live.
      if (before === 0 || after <= COMPACT_BYTES) continue;
      if (after > 2 * liveBytesOf(file)) this.#compact(file);
    }
  }

  /** Appends the entries of another log whose keys this one does not have. Requires the lock. */
  appendMissing(other: KeyedLog): void {
    // A key is in the files of the same number, so one of them is in memory at a time.
    for (let number = 0; number < FILES; number++) {
      const entries = new Map(other.#entriesIn(number));
      for (const key of this.read(entries.keys(), () => true).keys()) entries.delete(key);
      this.append(entries);
    }
  }

  /**
   * Removes one of the files, chosen by a number, if it has not changed since. Requires the lock.
   */
  removeUnchanged(choice: number, since: number): void {
    const file = this.#nameOf(choice % FILES);
    const stats = statsOf(file);
    if (stats !== undefined && stats.mtimeMs < since) unlinkSync(file);
  }

  /** Every entry; a file at a time. */
  *all(): Generator<readonly [key: string, entry: Entry]> {
    for (let number = 0; number < FILES; number++) yield* this.#entriesIn(number);
  }

  #entriesIn(number: number): readonly (readonly [key: string, entry: Entry])[] {
    const bytes = this.#load(this.#nameOf(number));
    const lines = bytes === undefined ? [] : latestOfAll(bytes.toString('utf8'));
    return [...lines].map(([key, line]) => [key, parseLine(line)?.slice(1) ?? []]);
  }

  /** The size of all files. */
  bytes(): number {
    let bytes = 0;
    for (let number = 0; number < FILES; number++) {
      bytes += statsOf(this.#nameOf(number))?.size ?? 0;
    }
    return bytes;
  }

  #compact(file: string): void {
    const bytes = this.#load(file);
    if (bytes === undefined) return;
    const latest = [...latestOfAll(bytes.toString('utf8')).values()].reverse();
    const isKept = this.#isKept ?? (() => true);
    const lines = latest.filter((line) => isKept(parseLine(line)?.slice(1) ?? [])).join('\n');
    const body = Buffer.from(lines === '' ? '' : `${lines}\n`);
    // A fixed name, so that killed processes leave at most one file behind.
    const temporary = `${file}.new`;
    const fd = openSync(temporary, 'w', PRIVATE_FILE);
    try {
      writeAll(fd, Buffer.from(headerOf(body.length)));
      writeAll(fd, body);
      // After a power failure, the rename could otherwise survive without the content.
      syncFile(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, file);
    syncFolder(dirname(file));
  }

  #load(file: string): Buffer | undefined {
    let fd: number;
    try {
      fd = openSync(file, READ_FLAGS);
    } catch {
      // The file does not exist, or cannot be read: its entries are requested from the service
      // again.
      return undefined;
    }
    try {
      const stats = fstatSync(fd);
      if (!stats.isFile()) return undefined;
      if (stats.size > this.#buffer.length) this.#buffer = Buffer.allocUnsafe(2 * stats.size);
      let size = 0;
      for (let read = -1; read !== 0 && size < stats.size; size += read) {
        read = readSync(fd, this.#buffer, size, stats.size - size, size);
      }
      return this.#buffer.subarray(0, size);
    } finally {
      closeSync(fd);
    }
  }

  #fileOf(key: string): string {
    return this.#nameOf(numberOf(key));
  }

  #nameOf(number: number): string {
    return `${this.#folder}${sep}${number.toString(16).padStart(3, '0')}`;
  }
}

const headerOf = (live: number): string => `{"live":${live}}\n`;

const lineOf = (key: string, entry: Entry): string => `${stringifyJson([key, ...entry])}\n`;

function liveBytesOf(file: string): number {
  const fd = openSync(file, READ_FLAGS);
  try {
    const header = HEADER.exec(readAt(fd, 0, HEADER_BYTES).toString('latin1'));
    return Number(header?.[1] ?? 0);
  } finally {
    closeSync(fd);
  }
}

/** A search for each key is faster than a look at every line if there are fewer keys than this. */
const SEVERAL = 3;

/** Where the lines of each key begin; a line of another key is possible. */
function placesOf(bytes: Buffer, keys: readonly string[]): readonly (readonly number[])[] {
  const starts = keys.map((key) => Buffer.from(`[${JSON.stringify(key)},`));
  if (keys.length < SEVERAL) return starts.map((start) => searchFor(bytes, start));
  const hashes = starts.map((start) => hashOfLine(start, 0));
  const byHash = new Map(hashes.map((hash): [number, number[]] => [hash, []]));
  for (let at = 0; at < bytes.length; ) {
    byHash.get(hashOfLine(bytes, at))?.push(at);
    const end = bytes.indexOf(NEWLINE, at);
    at = end < 0 ? bytes.length : end + 1;
  }
  return hashes.map((hash) => byHash.get(hash) ?? []);
}

/** A hash of the key of a line, up to the first quotation mark in it. */
function hashOfLine(bytes: Buffer, line: number): number {
  let hash = HASH_START;
  for (let at = line + '["'.length; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE || byte === NEWLINE) break;
    hash = Math.imul(hash ^ byte, HASH_PRIME);
  }
  return hash;
}

/** Goes forward, because `lastIndexOf` of a Buffer takes ten times as long. */
function searchFor(bytes: Buffer, start: Buffer): readonly number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(start); at >= 0; at = bytes.indexOf(start, at + start.length)) {
    if (at === 0 || bytes[at - 1] === NEWLINE) places.push(at);
  }
  return places;
}

/** The last whole line; one that a crash damaged is passed over for the one before it. */
function latestAt(bytes: Buffer, places: readonly number[], key: string): Entry | undefined {
  for (const at of [...places].reverse()) {
    const end = bytes.indexOf(NEWLINE, at);
    const line = end < 0 ? undefined : parseLine(bytes.toString('utf8', at, end));
    if (line?.[0] === key) return line.slice(1);
  }
  return undefined;
}

/** The last valid line of each key, the newest key first. */
function latestOfAll(text: string): Map<string, string> {
  const lines = text.split('\n');
  // What follows the last line end is incomplete.
  lines.pop();
  const kept = new Map<string, string>();
  for (const line of lines.reverse()) {
    const key = parseLine(line)?.[0];
    if (typeof key === 'string' && !kept.has(key)) kept.set(key, line);
  }
  return kept;
}

function parseLine(line: string): readonly unknown[] | undefined {
  const value = line.startsWith('["') ? parseJson(line) : undefined;
  return Array.isArray(value) ? value : undefined;
}

/** The number of the file of a key, by 32-bit FNV-1a. */
function numberOf(text: string): number {
  let hash = HASH_START;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), HASH_PRIME);
  }
  return ((hash ^ (hash >>> 15)) >>> 0) % FILES;
}
