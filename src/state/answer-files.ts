import {
  closeSync,
  constants,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { discard, ensureFolder, isAbsent, PRIVATE_FILE, temporaryIn } from '../base/files.ts';
import { parseJson, stringifyJson } from '../base/json.ts';

// One file for each answer: a JSON list of its name and its values.

/** Most answers fit, so that reading one takes three system calls. */
const buffer = Buffer.allocUnsafe(16 * 1024);
/** The open does not block, because opening a FIFO would wait for a writer. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * The values that were written under a name; undefined if there are none, or their file cannot be
 * read.
 */
export function readValues(folder: string, name: string): readonly unknown[] | undefined {
  const values = readAnswerFile(pathOf(folder, name));
  // Another name can have the same hash.
  return values?.[0] === name ? values.slice(1) : undefined;
}

/** The name and the values of a file; undefined if it is not such a file. */
export function readAnswerFile(path: string): readonly unknown[] | undefined {
  const value = parseJson(contentOf(path));
  return Array.isArray(value) && typeof value[0] === 'string' ? value : undefined;
}

/**
 * Writes values in one step: readers see the old or the new ones. They need not survive a power
 * failure.
 */
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

/** The text of a regular file; empty if it cannot be read. */
function contentOf(path: string): string {
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

/** The path of a name: in one of 256 folders, so that each has a bounded number of files. */
function pathOf(folder: string, name: string): string {
  const hash = hashOf(name);
  return join(folder, hash.slice(0, 2), hash.slice(2));
}

/** The two halves of cyrb53 by bryc. A SHA-256 would take twenty times as long. */
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
