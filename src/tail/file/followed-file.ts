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
import type { FileLines } from '../certificate.ts';
import type { FilePlace } from '../position.ts';
import { LineCount } from './line-count.ts';
import { finishedName, isFull, type RotateRule } from './rotation.ts';

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

/** The minimum time between two checks of the path by writes. A check for each write would slow down a fast feed. */
const LOOK_MS = 50;
/** How long to wait after a failed rename before the next attempt. */
const RETRY_MS = 60_000;
const NEWLINE = 10;

interface Opened {
  readonly handle: FileHandle;
  readonly identity: FileIdentity;
  size: number;
  lastWriteAt: number;
  /** False after a part of a line was written: the tail must not continue in another file before the line ends. */
  atLineEnd: boolean;
  readonly count: LineCount;
}

/** If another program deletes the file, the new one also gets the text written since the last check of the path. */
export async function openFollowed(
  path: string,
  { mono, now, moved, from, certify, rotate, warn, retry = tryOnce }: Following,
) {
  const { lines: known } = from ?? {};
  let file = await openAt(path, known, known ? from?.offset : 0).catch((error: unknown) => {
    throw writeFailure(path, error);
  });
  let newest = known?.newest ?? null;
  // The text written since the last check of the path.
  let unconfirmed: Uint8Array[] = [];
  let lookedAt = mono();
  let rotateFrom = Number.NEGATIVE_INFINITY;
  let turn: Promise<void> = Promise.resolve();

  /** Runs one step at a time, because writes and checks must not overlap. */
  const inTurn = (step: () => Promise<void>): Promise<void> => {
    const done = turn.then(step);
    turn = done.catch(() => {});
    return done;
  };

  const step = (work: () => Promise<void>): Promise<void> => retry(() => inTurn(work));

  const placeOf = ({ identity, count }: Opened): FilePlace => ({
    ...identity,
    offset: count.digest.bytes,
    lines: count.lines(newest),
  });

  /** Opens the file that continues the present one. */
  const openNext = () => {
    const { rows, digest, previous } = file.count.lines(newest);
    // All empty files have the same digest.
    return openAt(path, { before: newest, previous: rows === 0 ? previous : digest });
  };

  const replace = async (next: Opened) => {
    await file.handle.close();
    file = next;
    unconfirmed = [];
  };

  const follow = async () => {
    if (!file.atLineEnd) return;
    lookedAt = mono();
    if (isAt(path, file.identity)) {
      unconfirmed = [];
      return;
    }
    const deleted = (await file.handle.stat()).nlink === 0;
    const next = await openNext();
    const { size } = next;
    try {
      if (deleted) for (const bytes of unconfirmed) await append(next, bytes, now());
      else {
        await file.handle.sync();
        const renamed = fileAt(dirname(realPath(path)), file.identity);
        if (renamed !== undefined) certify?.(renamed, placeOf(file));
      }
    } catch (error) {
      // The next attempt writes all of this text again.
      await next.handle.truncate(size).catch(() => {});
      await next.handle.close();
      throw error;
    }
    await replace(next);
    moved(deleted ? 'deleted' : 'renamed');
  };

  /** If the rotation rule requires a new file before `more` bytes are written, renames the file and opens a new one. */
  const finish = async (more: number) => {
    if (!rotate || !file.atLineEnd || mono() < rotateFrom) return;
    if (!isFull(rotate.rule, file, more, now())) return;
    // Read the size again, because another program may have truncated the file.
    const { size } = await file.handle.stat();
    file.size = size;
    if (!isFull(rotate.rule, file, more, now())) return;
    await follow();
    if (file.size === 0) return;
    const target = realPath(path);
    let name: string;
    try {
      await file.handle.sync();
      name = finishedName(target, rotate.timeField, now());
      certify?.(name, placeOf(file));
      await rename(target, name);
    } catch (error) {
      rotateFrom = mono() + RETRY_MS;
      warn?.(
        `warning: cannot rename the finished file ${path}: ${errno(error) || 'unknown error'}`,
      );
      return;
    }
    syncFolder(dirname(target));
    await replace(await openNext());
    moved('finished', name);
  };

  /** Writes bytes. An attempt after a full disk looks at the path again, and writes only the bytes that are missing. */
  const write = (bytes: Uint8Array): Promise<void> => {
    let rest = bytes;
    return step(async () => {
      if (mono() - lookedAt >= LOOK_MS) await follow();
      await finish(rest.length);
      await append(file, rest, now(), (count) => {
        unconfirmed.push(rest.subarray(0, count));
        rest = rest.subarray(count);
      });
    });
  };
  const { fail, ...sink } = createSink(write, { live: true, name: path });
  const sync = () =>
    step(async () => {
      await follow();
      await syncTo(file.handle.fd, path);
    }).catch((error: unknown) => {
      throw failureOf(path, error);
    });

  const synced: Sink = {
    ...sink,
    async flush() {
      await sink.flush();
      await sync();
    },
    async finish(as) {
      try {
        await sink.finish(as);
        if (as === 'complete') await sync();
      } finally {
        await inTurn(() => file.handle.close());
      }
      return undefined;
    },
  };
  return {
    sink: synced,
    /** The end of the lines that are in the file. */
    place: () => placeOf(file),
    /** Called with the newest post time of rows before they are written. */
    saw(at: number | null): void {
      if (at !== null) newest = Math.max(newest ?? at, at);
    },
    /** Continues in a new file if the path no longer leads to the open file, or if the rotation rule requires it. */
    async check(): Promise<void> {
      try {
        await step(async () => {
          await follow();
          await finish(0);
        });
      } catch (error) {
        fail(error);
      }
    },
  };
}

/** Opens a file for appending. Reads its lines, except those before `offset`, which are known. */
async function openAt(path: string, known?: Partial<FileLines>, offset = 0): Promise<Opened> {
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
      count: new LineCount(known, offset),
    };
    if (size > offset) file.count.read(path, offset);
    // Add a missing line break at the end: another program may have created the file that is now at the path.
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

/** If not all bytes fit on the disk, removes the part of the last line, so that the output can continue in another file. */
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
    at -= await cutLine(file, bytes.subarray(0, at));
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

/** Removes what follows the last line break in `bytes`, which end the file. Returns how many bytes were removed. */
async function cutLine({ handle }: Opened, bytes: Uint8Array): Promise<number> {
  const torn = bytes.length - (bytes.lastIndexOf(NEWLINE) + 1);
  if (torn === 0) return 0;
  try {
    const { size } = await handle.stat();
    await handle.truncate(Math.max(0, size - torn));
    return torn;
  } catch {
    // The next attempt completes the line.
    return 0;
  }
}
