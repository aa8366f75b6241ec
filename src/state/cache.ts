import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { quietly } from '../base/calls.ts';
import { discard, fileFailure } from '../base/files.ts';
import { isRecord } from '../base/json-object.ts';
import { sha256 } from '../base/sha256.ts';
import type { CachedAnswer } from '../contract/answer-ports.ts';
import { readFile, readValues, writeValues } from './answer-file.ts';
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
        writeValues(folder, nameOf(endpoint, subject), [status, time, status === 200 ? record : null]);
        noteHandle(folder, record);
        if (!isSwept) sweep(all, folder, now());
        isSwept = true;
      } catch (error) {
        if (!isReported)
          notice?.(`answers are not saved for later runs: ${fileFailure('write in', folder, error).message}`);
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

/** In one of the 256 folders per run; and the folders of other keys that were unused for 30 days. */
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

function statsOf(folder: string | undefined) {
  let [entries, found, bytes] = [0, 0, 0];
  let [oldest, newest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const part of folder === undefined ? [] : namesIn(folder)) {
    if (folder === undefined || !/^[0-9a-f]{2}$/.test(part)) continue;
    for (const name of namesIn(join(folder, part))) {
      const path = join(folder, part, name);
      const answer = answerOf(readFile(path)?.slice(1) ?? []);
      if (!answer) continue;
      entries++;
      if (answer.status === 200) found++;
      bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
      oldest = Math.min(oldest, answer.time);
      newest = Math.max(newest, answer.time);
    }
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

/** Ignores case and a leading @. */
function listHandles(folder: string, prefix: string, limit: number): string[] {
  const start = prefix.replace(/^@/, '').toLowerCase();
  const found = new Map<string, string>();
  for (const handle of remembered(fileIn(folder)).reverse()) {
    if (found.size >= limit) break;
    const name = handle.toLowerCase();
    if (PLAIN.test(handle) && name.startsWith(start) && !found.has(name)) found.set(name, handle);
  }
  return [...found.values()];
}
