import { readdirSync, statSync } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errno, isAbsent, realPath, syncFolder } from '../../base/files.ts';
import {
  createSink,
  failureOf,
  type Retry,
  type Sink,
  syncTo,
  tryOnce,
  writeFailure,
} from '../../output/sink.ts';
import { type FileLines, linkTo } from '../certificate.ts';
import type { FilePlace } from '../position.ts';
import { LineCount } from './line-count.ts';
import { finishedName, isFull, type RotateRule } from './rotation.ts';
import { cutTornLine } from './torn-line.ts';

type Moved = 'renamed' | 'deleted' | 'finished';

interface Following {
  readonly mono: () => number;
  readonly now: () => number;
  /** Called when the output continues in a new file. `name` is the new path of a finished file. */
  readonly moved: (how: Moved, name?: string) => void;
  /** What is known of the lines that are in the file already. By default, they are read. */
  readonly from?: Pick<FilePlace, 'offset' | 'lines'> | undefined;
  /** Writes the certificate of a file before the output continues in another one. */
  readonly certify?: ((path: string, place: FilePlace) => void) | undefined;
  readonly rotate?: { readonly rule: RotateRule; readonly timeField: string } | undefined;
  /** Called when a finished file could not be renamed; trdr retries later. */
  readonly warn?: ((text: string) => void) | undefined;
  /** Repeats a step that a full disk makes fail. */
  readonly retry?: Retry | undefined;
}

type FileIdentity = Pick<FilePlace, 'dev' | 'ino'>;

/**
 * The minimum time between two checks of the path by writes. A check for each write would slow down
 * a fast feed.
 */
const LOOK_MS = 50;
/** How long to wait after a failed rename before the next attempt. */
const RETRY_MS = 60_000;
const NEWLINE = 10;

interface Opened {
  readonly handle: FileHandle;
  readonly identity: FileIdentity;
  size: number;
  lastWriteAt: number;
  /**
   * False after a part of a line was written: the tail must not continue in another file before the
   * line ends.
   */
  atLineEnd: boolean;
  readonly count: LineCount;
}

/**
 * A file that other programs may rename, replace or delete while it is written, and that is rotated
 * by a rule.
 */
export class FollowedFile {
  /** Writes to the file, and syncs it when it is flushed. */
  readonly sink: Sink;
  readonly #path: string;
  readonly #following: Following;
  readonly #retry: Retry;
  readonly #fail: (error: unknown) => void;
  #file: Opened;
  #newest: number | null;
  /**
   * The text written since the last check of the path: if another program deletes the file, the new
   * one also gets it.
   */
  #unconfirmed: Uint8Array[] = [];
  #lookedAt: number;
  #rotateFrom = Number.NEGATIVE_INFINITY;
  #turn: Promise<void> = Promise.resolve();

  static async open(path: string, following: Following): Promise<FollowedFile> {
    const { lines, offset } = following.from ?? {};
    const file = await openAt(path, lines, lines ? offset : 0).catch((error: unknown) => {
      throw writeFailure(path, error);
    });
    return new FollowedFile(path, following, file);
  }

  private constructor(path: string, following: Following, file: Opened) {
    this.#path = path;
    this.#following = following;
    this.#retry = following.retry ?? tryOnce;
    this.#file = file;
    this.#newest = following.from?.lines?.newest ?? null;
    this.#lookedAt = following.mono();
    const { fail, ...sink } = createSink((bytes) => this.#write(bytes), { live: true, name: path });
    this.#fail = fail;
    this.sink = {
      ...sink,
      flush: async () => {
        await sink.flush();
        await this.#sync();
      },
      finish: async (as) => {
        try {
          await sink.finish(as);
          if (as === 'complete') await this.#sync();
        } finally {
          await this.#inTurn(() => this.#file.handle.close());
        }
        return undefined;
      },
    };
  }

  /** The end of the lines that are in the file. */
  place(): FilePlace {
    const { identity, count } = this.#file;
    return { ...identity, offset: count.digest.bytes, lines: count.lines(this.#newest) };
  }

  /** Called with the newest post time of rows before they are written. */
  saw(at: number | null): void {
    if (at !== null) this.#newest = Math.max(this.#newest ?? at, at);
  }

  /**
   * Continues in a new file if the path no longer leads to the open file, or if the rotation rule
   * requires it.
   */
  async check(): Promise<void> {
    try {
      await this.#step(async () => {
        await this.#follow();
        await this.#finish(0);
      });
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Runs one step at a time, because writes and checks must not overlap. */
  #inTurn(step: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(step);
    this.#turn = done.catch(() => {});
    return done;
  }

  #step(work: () => Promise<void>): Promise<void> {
    return this.#retry(() => this.#inTurn(work));
  }

  /**
   * Writes bytes. An attempt after a full disk looks at the path again, and writes only the bytes
   * that are missing.
   */
  #write(bytes: Uint8Array): Promise<void> {
    const { mono, now } = this.#following;
    let rest = bytes;
    return this.#step(async () => {
      if (mono() - this.#lookedAt >= LOOK_MS) await this.#follow();
      await this.#finish(rest.length);
      await append(this.#file, rest, now(), (count) => {
        this.#unconfirmed.push(rest.subarray(0, count));
        rest = rest.subarray(count);
      });
    });
  }

  async #sync(): Promise<void> {
    const path = this.#path;
    try {
      await this.#step(async () => {
        await this.#follow();
        await syncTo(this.#file.handle.fd, path);
      });
    } catch (error) {
      throw failureOf(path, error);
    }
  }

  /** Opens the file that continues the present one. */
  #openNext(): Promise<Opened> {
    const previous = linkTo(this.#file.count.lines(this.#newest));
    return openAt(this.#path, { before: this.#newest, previous });
  }

  async #replace(next: Opened): Promise<void> {
    await this.#file.handle.close();
    this.#file = next;
    this.#unconfirmed = [];
  }

  /** Continues in a new file if the path no longer leads to the open one. */
  async #follow(): Promise<void> {
    const { mono, moved } = this.#following;
    if (!this.#file.atLineEnd) return;
    this.#lookedAt = mono();
    if (isAt(this.#path, this.#file.identity)) {
      this.#unconfirmed = [];
      return;
    }
    const isDeleted = (await this.#file.handle.stat()).nlink === 0;
    const next = await this.#openNext();
    const { size } = next;
    try {
      await this.#leave(next, isDeleted);
    } catch (error) {
      // The next attempt writes all of this text again.
      await next.handle.truncate(size).catch(() => {});
      await next.handle.close();
      throw error;
    }
    await this.#replace(next);
    moved(isDeleted ? 'deleted' : 'renamed');
  }

  /**
   * Writes what was only in a deleted file to the next one, or the certificate of a renamed one.
   */
  async #leave(next: Opened, isDeleted: boolean): Promise<void> {
    const { now, certify } = this.#following;
    if (isDeleted) {
      for (const bytes of this.#unconfirmed) await append(next, bytes, now());
      return;
    }
    await this.#file.handle.sync();
    const renamed = fileAt(dirname(realPath(this.#path)), this.#file.identity);
    if (renamed !== undefined) certify?.(renamed, this.place());
  }

  /**
   * If the rotation rule requires a new file before `more` bytes are written, renames the file and
   * opens a new one.
   */
  async #finish(more: number): Promise<void> {
    const { rotate, mono, now, moved } = this.#following;
    if (!rotate || !this.#file.atLineEnd || mono() < this.#rotateFrom) return;
    if (!isFull(rotate.rule, this.#file, more, now())) return;
    // Read the size again, because another program may have truncated the file.
    this.#file.size = (await this.#file.handle.stat()).size;
    if (!isFull(rotate.rule, this.#file, more, now())) return;
    await this.#follow();
    if (this.#file.size === 0) return;
    const name = await this.#rename(rotate.timeField);
    if (name === undefined) return;
    syncFolder(dirname(realPath(this.#path)));
    await this.#replace(await this.#openNext());
    moved('finished', name);
  }

  /**
   * Gives the file the name of a finished one; undefined if that failed, and is to be tried again
   * later.
   */
  async #rename(timeField: string): Promise<string | undefined> {
    const { mono, now, certify, warn } = this.#following;
    const target = realPath(this.#path);
    try {
      await this.#file.handle.sync();
      const name = finishedName(target, timeField, now());
      certify?.(name, this.place());
      await rename(target, name);
      return name;
    } catch (error) {
      this.#rotateFrom = mono() + RETRY_MS;
      warn?.(
        `warning: cannot rename the finished file ${this.#path}: ${errno(error) || 'unknown error'}`,
      );
      return undefined;
    }
  }
}

/** Opens a file for appending. Reads its lines, except those before `offset`, which are known. */
async function openAt(path: string, lines?: Partial<FileLines>, offset = 0): Promise<Opened> {
  if (/[\\/]$/.test(path)) throw Object.assign(new Error('a folder'), { code: 'EISDIR' });
  const handle = await open(path, 'a+', 0o666);
  try {
    const { dev, ino, size, mtimeMs } = await handle.stat({ bigint: true });
    const identity = { dev: String(dev), ino: String(ino) };
    const file: Opened = {
      handle,
      identity,
      size: Number(size),
      lastWriteAt: Number(mtimeMs),
      atLineEnd: true,
      count: new LineCount(lines, offset),
    };
    if (size > offset) file.count.read(path, offset);
    // Add a missing line break at the end: another program may have created the file that is now at
    // the path.
    const last = Buffer.alloc(1, NEWLINE);
    if (size > 0n) await handle.read(last, 0, 1, Number(size) - 1);
    if (last[0] !== NEWLINE) await append(file, Buffer.from('\n'), Number(mtimeMs));
    return file;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The path of a file in a folder, which may have been renamed; undefined if it is not there. */
export const fileAt = (folder: string, identity: FileIdentity): string | undefined =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => join(folder, name))
    .find((path) => isAt(path, identity));

export function isAt(path: string, { dev, ino }: FileIdentity): boolean {
  try {
    const stats = statSync(path, { bigint: true });
    return String(stats.dev) === dev && String(stats.ino) === ino;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

/**
 * If not all bytes fit on the disk, removes the part of the last line, so that the output can
 * continue in another file.
 */
async function append(
  file: Opened,
  bytes: Uint8Array,
  now: number,
  wrote?: (count: number) => void,
): Promise<void> {
  let at = 0;
  try {
    while (at < bytes.length) at += (await file.handle.write(bytes, at)).bytesWritten;
  } catch (error) {
    at -= await cutTornLine(file.handle, bytes.subarray(0, at));
    throw error;
  } finally {
    if (at > 0) {
      file.count.add(bytes.subarray(0, at));
      file.size += at;
      file.lastWriteAt = now;
      file.atLineEnd = bytes[at - 1] === NEWLINE;
    }
    wrote?.(at);
  }
}
