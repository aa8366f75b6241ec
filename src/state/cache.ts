import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { quietly } from '../base/calls.ts';
import {
  discard,
  ensureFolder,
  fileFailure,
  isAbsent,
  PRIVATE_FILE,
  temporaryIn,
} from '../base/files.ts';
import { parseJson, stringifyJson } from '../base/json.ts';
import { isRecord } from '../base/json-object.ts';
import { sha256 } from '../base/sha256.ts';
import { normalHandle } from '../contract/handles.ts';
import type { CachedAnswer, RunAnswers } from '../contract/ports/answers.ts';
import { remember, remembered } from './recent-lines.ts';

interface CacheOptions {
  readonly dir: string | undefined;
  readonly baseUrl: string;
  readonly key: string;
  readonly now: () => number;
  readonly notice?: (text: string) => void;
}

/** Older answers, and unused folders of other keys, are removed. */
const FORGET_MS = 30 * 86_400_000;
/** An answer from further ahead was saved while the clock was wrong, and would expire too late. */
const AHEAD_MS = 60_000;

/** One file per answer. A failing cache never ends a run: a write error is reported once. */
export function openCache({ dir, baseUrl, key, now, notice }: CacheOptions) {
  const all = dir && join(dir, 'answers');
  const folder = all && join(all, sha256(`trdr answers 2\n${baseUrl}\n${key}`).slice(0, 32));
  let isSwept = false;
  let isReported = false;

  return {
    get(endpoint: string, subject: string): CachedAnswer | undefined {
      const values = folder && readValues(folder, nameOf(endpoint, subject));
      const answer = values && answerOf(values);
      return answer && answer.time <= now() + AHEAD_MS ? answer : undefined;
    },
    put(endpoint: string, subject: string, { status, time, record }: CachedAnswer): void {
      if (folder === undefined || all === undefined) return;
      try {
        writeValues(folder, nameOf(endpoint, subject), [
          status,
          time,
          status === 200 ? record : null,
        ]);
        noteHandle(folder, record);
        if (!isSwept) sweep(all, folder, now());
        isSwept = true;
      } catch (error) {
        if (!isReported)
          notice?.(
            `answers are not saved for later runs: ${fileFailure('write in', folder, error).message}`,
          );
        isReported = true;
      }
    },
    stats: () => ({ path: folder, ...statsOf(folder) }),
    /** With `every`, those of all base URLs and keys. */
    clear(every = false): void {
      const path = every ? all : folder;
      if (path === undefined) return;
      try {
        rmSync(path, { recursive: true, force: true, maxRetries: 3 });
      } catch (error) {
        throw fileFailure('clear', path, error);
      }
    },
    listHandles: (prefix: string, limit: number): string[] =>
      folder === undefined ? [] : listHandles(folder, prefix, limit),
  };
}

const nameOf = (endpoint: string, subject: string) => `${endpoint} ${subject}`;

function answerOf([status, time, record]: readonly unknown[]): CachedAnswer | undefined {
  if ((status !== 200 && status !== 404) || typeof time !== 'number') return undefined;
  return { time, status, record };
}

const namesIn = (folder: string): string[] => quietly(() => readdirSync(folder)) ?? [];

const isOld = (path: string, now: number): boolean => {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && now - stats.mtimeMs > FORGET_MS;
};

/**
 * In one of the 256 folders per run; and the folders of other keys that were unused for 30 days.
 */
function sweep(all: string, mine: string, now: number): void {
  const one = join(mine, (now % 256).toString(16).padStart(2, '0'));
  for (const name of namesIn(one)) if (isOld(join(one, name), now)) discard(join(one, name));
  for (const name of namesIn(all)) {
    const folder = join(all, name);
    if (folder === mine || !/^[0-9a-f]{32}$/.test(name)) continue;
    if (namesIn(folder).every((part) => isOld(join(folder, part), now))) {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

function statsOf(folder = '') {
  let [entries, found, bytes] = [0, 0, 0];
  let [oldest, newest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const names = quietly(() => readdirSync(folder, { recursive: true, encoding: 'utf8' })) ?? [];
  for (const path of names.map((name) => join(folder, name))) {
    const answer = answerOf(readFile(path)?.slice(1) ?? []);
    if (!answer) continue;
    entries++;
    if (answer.status === 200) found++;
    bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    oldest = Math.min(oldest, answer.time);
    newest = Math.max(newest, answer.time);
  }
  const span = entries === 0 ? { oldest: null, newest: null } : { oldest, newest };
  return { entries, found, missing: entries - found, bytes, ...span };
}

/** A shell accepts them without quotes. */
const PLAIN = /^[A-Za-z0-9_.-]{1,64}$/;
const MOST = 5_000;

const fileIn = (folder: string) => join(folder, 'handles');

function noteHandle(folder: string, record: unknown): void {
  const handle = isRecord(record) ? record['handle'] : undefined;
  if (typeof handle === 'string' && PLAIN.test(handle)) remember(fileIn(folder), [handle], MOST);
}

/** The saved handles that begin as this text does, in any case, with or without @. */
function listHandles(folder: string, prefix: string, limit: number): string[] {
  const start = normalHandle(prefix);
  const found = new Map<string, string>();
  for (const handle of remembered(fileIn(folder)).reverse()) {
    if (found.size >= limit) break;
    const name = handle.toLowerCase();
    if (PLAIN.test(handle) && name.startsWith(start) && !found.has(name)) found.set(name, handle);
  }
  return [...found.values()];
}

/** Most files fit, so that reading one takes three system calls. */
const buffer = Buffer.allocUnsafe(16 * 1024);
/** Opening a FIFO would wait for a writer. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Undefined if the file cannot be read. */
function readValues(folder: string, name: string): readonly unknown[] | undefined {
  const values = readFile(pathOf(folder, name));
  // Another name can have the same hash.
  return values?.[0] === name ? values.slice(1) : undefined;
}

/** With the name as the first value; undefined if it is not such a file. */
function readFile(path: string): readonly unknown[] | undefined {
  const value = parseJson(textOf(path));
  return Array.isArray(value) && typeof value[0] === 'string' ? value : undefined;
}

/** Readers see the old or the new values, which need not survive a power failure. */
function writeValues(folder: string, name: string, values: readonly unknown[]): void {
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

/** A private temporary folder, created with the first answer. */
export function openRunAnswers(): RunAnswers {
  let folder: string | undefined;
  return {
    get: (key) => folder && readValues(folder, key)?.[0],
    put(key, answer) {
      try {
        folder ??= mkdtempSync(join(tmpdir(), 'trdr-'));
        writeValues(folder, key, [answer]);
        return true;
      } catch {
        return false;
      }
    },
    async close() {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}
