import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileFailure } from '../base/files.ts';
import { withLock } from '../base/lock.ts';
import { type KeptKind, keyFolder } from './key-folder.ts';
import { type IsKept, KeyedLog, type ParseEntry } from './keyed-log.ts';

/** The base URL and key for which something is kept, and where. */
export interface KeptFor {
  /** The folder of all base URLs and keys; undefined if nothing is kept. */
  readonly dir: string | undefined;
  readonly baseUrl: string;
  /** It is read at each use, because a command can print another key during the run. */
  readonly key: string;
  /** Called once if answers cannot be saved. */
  readonly notice?: ((text: string) => void) | undefined;
}

/** Nobody should wait longer for the bookkeeping of an answer. */
const LOCK_MS = 2_000;

/**
 * What is kept for one base URL and key: logs in one folder, which are written under one lock. A
 * failing disk never ends a run: what cannot be read counts as absent, and a write error is
 * reported once.
 */
export class KeptLogs<Name extends string> {
  readonly #owner: KeptFor;
  readonly #kind: KeptKind;
  readonly #names: readonly Name[];
  readonly #isKept: IsKept | undefined;
  #opened: Opened<Name> | undefined;
  #isReported = false;

  /** The name `.` is that of a log in the folder itself. */
  constructor(owner: KeptFor, kind: KeptKind, names: readonly Name[], isKept?: IsKept) {
    this.#owner = owner;
    this.#kind = kind;
    this.#names = names;
    this.#isKept = isKept;
  }

  get folder(): string | undefined {
    return this.#own?.folder;
  }

  log(name: Name): KeyedLog | undefined {
    return this.#own?.logs.get(name);
  }

  /** What a log has of these keys. */
  read<T>(name: Name, keys: Iterable<string>, parse: ParseEntry<T>): Map<string, T> {
    return this.log(name)?.read(keys, parse) ?? new Map();
  }

  /** Runs `work` under the lock. The answer is delivered even if it cannot be kept. */
  async write<T>(work: () => T): Promise<T | undefined> {
    const { folder } = this;
    if (folder === undefined) return undefined;
    try {
      // Another key may replace this one during the wait, and has a folder of its own.
      const written = await withLock(
        lockOf(folder),
        () => (this.folder === folder ? { value: work() } : undefined),
        { timeoutMs: LOCK_MS },
      );
      return written ? written.value : await this.write(work);
    } catch (error) {
      const { message } = fileFailure('write in', folder, error);
      if (!this.#isReported)
        this.#owner.notice?.(`answers are not saved for later runs: ${message}`);
      this.#isReported = true;
      return undefined;
    }
  }

  /** Takes over what is kept for an earlier key, and not for this one. */
  async inherit(earlier: string): Promise<void> {
    const from = this.#openFor(earlier);
    if (from === undefined || !existsSync(from.folder)) return;
    await this.write(() => {
      for (const [name, log] of from.logs) this.log(name)?.appendMissing(log);
    });
  }

  /** The folder is renamed under the lock, so that no writer adds to one that is being removed. */
  async clear(): Promise<void> {
    const { folder } = this;
    if (folder === undefined) return;
    // One that was killed has left its folder there.
    const aside = `${folder}.cleared`;
    if (!existsSync(folder) && !existsSync(aside)) return;
    try {
      await withLock(lockOf(folder), () => {
        rmSync(aside, { recursive: true, force: true, maxRetries: 3 });
        if (existsSync(folder)) renameSync(folder, aside);
      });
      rmSync(aside, { recursive: true, force: true, maxRetries: 3 });
    } catch (error) {
      throw fileFailure('clear', folder, error);
    }
  }

  get #own(): Opened<Name> | undefined {
    const { key } = this.#owner;
    if (this.#opened?.key !== key) this.#opened = this.#openFor(key);
    return this.#opened;
  }

  #openFor(key: string): Opened<Name> | undefined {
    const { dir, baseUrl } = this.#owner;
    if (dir === undefined) return undefined;
    const folder = keyFolder(dir, this.#kind, baseUrl, key);
    const logs = this.#names.map((name): [Name, KeyedLog] => [
      name,
      new KeyedLog(join(folder, name), this.#isKept),
    ]);
    return { key, folder, logs: new Map(logs) };
  }
}

/** The logs for one key. */
interface Opened<Name> {
  readonly key: string;
  readonly folder: string;
  readonly logs: ReadonlyMap<Name, KeyedLog>;
}

/** Beside the folder, because `clear` renames the folder under it. */
const lockOf = (folder: string): string => `${folder}.lock`;

/** Removes what is kept for all base URLs and keys. */
export function clearAllKept(dir: string | undefined, kind: KeptKind): void {
  if (dir === undefined) return;
  const path = join(dir, kind);
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    throw fileFailure('clear', path, error);
  }
}
