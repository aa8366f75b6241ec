import { closeSync, constants, openSync, readFileSync, readSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { discard, ensureFolder, isAbsent, PRIVATE_FILE, temporaryIn } from '../base/files.ts';
import { parseJson, stringifyJson } from '../base/json.ts';

/** Most files fit, so that reading one takes three system calls. */
const buffer = Buffer.allocUnsafe(16 * 1024);
/** Opening a FIFO would wait for a writer. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Undefined if the file cannot be read. */
export function readValues(folder: string, name: string): readonly unknown[] | undefined {
  const values = readFile(pathOf(folder, name));
  // Another name can have the same hash.
  return values?.[0] === name ? values.slice(1) : undefined;
}

/** With the name as the first value; undefined if it is not such a file. */
export function readFile(path: string): readonly unknown[] | undefined {
  const value = parseJson(textOf(path));
  return Array.isArray(value) && typeof value[0] === 'string' ? value : undefined;
}

/** Readers see the old or the new values, which need not survive a power failure. */
export function writeValues(folder: string, name: string, values: readonly unknown[]): void {
  const path = pathOf(folder, name);
  const text = stringifyJson([name, ...values]);
  try {
    replace(path, text);
  } catch (error) {
    if (!isAbsent(error)) throw error;
    ensureFolder(dirname(path));
    replace(path, text);
  }
}

function replace(path: string, text: string): void {
  const temporary = temporaryIn(dirname(path));
  try {
    writeFileSync(temporary, text, { flag: 'wx', mode: PRIVATE_FILE });
    renameSync(temporary, path);
  } catch (error) {
    discard(temporary);
    throw error;
  }
}

function textOf(path: string): string {
  try {
    const fd = openSync(path, FLAGS);
    try {
      const size = readSync(fd, buffer, 0, buffer.length, 0);
      return size < buffer.length ? buffer.toString('utf8', 0, size) : readFileSync(fd, 'utf8');
    } finally {
      closeSync(fd);
    }
  } catch {
    return '';
  }
}

/** In one of 256 folders, so that none of them has too many files. */
function pathOf(folder: string, name: string): string {
  const hash = hashOf(name);
  return join(folder, hash.slice(0, 2), hash.slice(2));
}

/** The two halves of cyrb53 by bryc, which is fast. The hash need not be secure. */
function hashOf(text: string): string {
  let one = 0xdeadbeef;
  let two = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 2654435761);
    two = Math.imul(two ^ code, 1597334677);
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(two ^ (two >>> 13), 3266489909);
  two = Math.imul(two ^ (two >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
  return [one, two].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
}
