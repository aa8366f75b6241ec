import { cpSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { quietly } from '../base/calls.ts';
import { discard, fileFailure } from '../base/files.ts';
import { sha256 } from '../base/sha256.ts';
import type { CachedAnswer } from '../contract/ports/answers.ts';
import { readAnswerFile, readValues, writeValues } from './answer-files.ts';

interface CacheOptions {
  /** The cache folder; if it is undefined, nothing is saved. */
  readonly dir: string | undefined;
  readonly baseUrl: string;
  /** It is read at each use, because a command can print another key during the run. */
  readonly key: string;
  readonly now: () => number;
  /** Called once if answers cannot be saved. */
  readonly notice?: (text: string) => void;
}

/** Older answers, and folders of other keys that were not used for as long, are removed. */
const FORGET_MS = 30 * 86_400_000;
/** An answer from further ahead was saved while the clock was wrong, and would expire too late. */
const AHEAD_MS = 60_000;

/**
 * Opens the answers that are saved for later runs with a base URL and key: one file for each. A
 * failing cache never ends a run: unreadable answers are ignored, and a write error is reported
 * once.
 */
export const openCache = (options: CacheOptions): FileCache => new FileCache(options);

class FileCache {
  readonly #options: CacheOptions;
  /** The folder of all base URLs and keys. */
  readonly #all: string | undefined;
  #own: { readonly key: string; readonly folder: string | undefined } | undefined;
  #isSwept = false;
  #isReported = false;

  constructor(options: CacheOptions) {
    this.#options = options;
    this.#all = options.dir && join(options.dir, 'answers');
  }

  get(endpoint: string, subject: string): CachedAnswer | undefined {
    const values = this.#folder && readValues(this.#folder, nameOf(endpoint, subject));
    const answer = values && answerOf(values);
    return answer && answer.time <= this.#options.now() + AHEAD_MS ? answer : undefined;
  }

  put(endpoint: string, subject: string, { status, time, record }: CachedAnswer): void {
    const folder = this.#folder;
    if (folder === undefined) return;
    try {
      const values = [status, time, status === 200 ? record : null];
      writeValues(folder, nameOf(endpoint, subject), values);
      this.#sweep(folder);
    } catch (error) {
      this.#report(fileFailure('write in', folder, error).message);
    }
  }

  /** Takes over the answers of an earlier key that this one does not have. */
  inherit(earlier: string): void {
    const from = this.#folderOf(earlier);
    const to = this.#folder;
    if (from === undefined || to === undefined || !existsSync(from)) return;
    try {
      cpSync(from, to, { recursive: true, force: false, preserveTimestamps: true });
    } catch (error) {
      this.#report(fileFailure('write in', to, error).message);
    }
  }

  stats(): CacheStats {
    return statsOf(this.#folder);
  }

  /**
   * Removes the answers of this base URL and key; with `every`, those of all base URLs and keys.
   */
  clear(every = false): void {
    const path = every ? this.#all : this.#folder;
    if (path === undefined) return;
    try {
      rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    } catch (error) {
      throw fileFailure('clear', path, error);
    }
  }

  /** The folder of this base URL and key. */
  get #folder(): string | undefined {
    const { key } = this.#options;
    if (this.#own?.key !== key) this.#own = { key, folder: this.#folderOf(key) };
    return this.#own.folder;
  }

  #folderOf(key: string): string | undefined {
    const name = sha256(`trdr answers 2\n${this.#options.baseUrl}\n${key}`).slice(0, 32);
    return this.#all && join(this.#all, name);
  }

  /**
   * Removes old answers once per run: those in one of the 256 folders, and unused folders of other
   * keys.
   */
  #sweep(folder: string): void {
    if (this.#isSwept || this.#all === undefined) return;
    const now = this.#options.now();
    const part = join(folder, (now % 256).toString(16).padStart(2, '0'));
    removeOld(part, now);
    removeUnused(this.#all, folder, now);
    this.#isSwept = true;
  }

  #report(why: string): void {
    if (!this.#isReported) this.#options.notice?.(`answers are not saved for later runs: ${why}`);
    this.#isReported = true;
  }
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

function removeOld(folder: string, now: number): void {
  for (const name of namesIn(folder))
    if (isOld(join(folder, name), now)) discard(join(folder, name));
}

function removeUnused(all: string, used: string, now: number): void {
  for (const name of namesIn(all)) {
    const folder = join(all, name);
    if (folder === used || !/^[0-9a-f]{32}$/.test(name)) continue;
    const isUnused = namesIn(folder).every((part) => isOld(join(folder, part), now));
    if (isUnused) rmSync(folder, { recursive: true, force: true });
  }
}

/** What `trdr cache stats` prints. */
interface CacheStats {
  readonly path: string | undefined;
  readonly entries: number;
  readonly found: number;
  readonly missing: number;
  readonly bytes: number;
  readonly oldest: number | null;
  readonly newest: number | null;
}

function statsOf(folder: string | undefined): CacheStats {
  const sizes: number[] = [];
  const times: number[] = [];
  let found = 0;
  const options = { recursive: true, encoding: 'utf8' } as const;
  const names = folder === undefined ? [] : (quietly(() => readdirSync(folder, options)) ?? []);
  for (const name of names) {
    const path = join(folder ?? '', name);
    const answer = answerOf(readAnswerFile(path)?.slice(1) ?? []);
    if (!answer) continue;
    sizes.push(statSync(path, { throwIfNoEntry: false })?.size ?? 0);
    times.push(answer.time);
    if (answer.status === 200) found++;
  }
  const entries = sizes.length;
  return {
    path: folder,
    entries,
    found,
    missing: entries - found,
    bytes: sizes.reduce((sum, size) => sum + size, 0),
    oldest: times.reduce<number | null>((one, other) => Math.min(one ?? other, other), null),
    newest: times.reduce<number | null>((one, other) => Math.max(one ?? other, other), null),
  };
}
