import { type FileHandle, open, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Writable } from 'node:stream';
import { errno, realPath, syncFolder } from '../../base/files.ts';
import { createSink, type Sink, writeFailure } from '../../output/sink.ts';
import { finishedName, firstPostTime, isFull, type RotateRule } from './rotation.ts';

/** What happened to a file while the tail was writing it. */
export type Moved = 'renamed' | 'deleted' | 'finished';

/** Identifies a file independently of its name. */
export interface FileIdentity {
  readonly dev: string;
  readonly ino: string;
}

/** An output file that is appended to and may be renamed, replaced or deleted meanwhile. */
export interface FollowedFile {
  readonly sink: Sink;
  readonly identity: FileIdentity;
  /** Continues in a new file if the path no longer leads to the open file, or if the file is finished. */
  check(): Promise<void>;
}

interface FollowedOptions {
  readonly mono: () => number;
  readonly now: () => number;
  /** Called when the output continues in a new file; `name` is the new name of a finished file. */
  readonly moved: (how: Moved, name?: string) => void;
  readonly rotate?: { readonly rule: RotateRule; readonly timeField: string } | undefined;
  /** Called when a finished file could not be renamed; this is retried later. */
  readonly warn?: ((text: string) => void) | undefined;
}

/** A check costs a system call, which is too much for each write of a fast feed. */
const LOOK_MS = 50;
/** The pause after a failed rename. */
const RETRY_MS = 60_000;
const NEWLINE = 10;

interface Opened {
  readonly handle: FileHandle;
  readonly identity: FileIdentity;
  size: number;
  lastWriteAt: number;
  /** Whether its last byte ends a line: only then the tail may switch to another file. */
  atLineEnd: boolean;
}

/** Opens a file for appending. Text written after the file was deleted is written to the next file again. */
export async function openFollowed(
  path: string,
  { mono, now, moved, rotate, warn }: FollowedOptions,
): Promise<FollowedFile> {
  let file = await openAt(path).catch((error: unknown) => {
    throw writeFailure(path, error);
  });
  // Written since the path was last known to lead to the open file; lost if the file was deleted before.
  let unconfirmed: Buffer[] = [];
  let lookedAt = mono();
  let rotateFrom = Number.NEGATIVE_INFINITY;
  let turn: Promise<void> = Promise.resolve();

  /** One step at a time: writes and checks must not overlap. */
  const inTurn = (step: () => Promise<void>): Promise<void> => {
    const done = turn.then(step);
    turn = done.catch(() => {});
    return done;
  };

  const replace = async (next: Opened) => {
    await file.handle.close();
    file = next;
    unconfirmed = [];
  };

  const follow = async () => {
    if (!file.atLineEnd) return;
    lookedAt = mono();
    const found = await identityAt(path);
    if (found?.dev === file.identity.dev && found.ino === file.identity.ino) {
      unconfirmed = [];
      return;
    }
    const deleted = (await file.handle.stat()).nlink === 0;
    const next = await openAt(path);
    if (deleted) for (const bytes of unconfirmed) await append(next, bytes, now());
    else await file.handle.sync();
    await replace(next);
    moved(deleted ? 'deleted' : 'renamed');
  };

  /** Renames the file if it is finished, and continues in a new one. */
  const finish = async (more: number) => {
    if (!rotate || !file.atLineEnd || mono() < rotateFrom) return;
    if (!isFull(rotate.rule, file, more, now())) return;
    // Another program may have truncated it.
    const { size } = await file.handle.stat();
    file.size = size;
    if (!isFull(rotate.rule, file, more, now())) return;
    await follow();
    if (file.size === 0) return;
    const target = realPath(path);
    let name: string;
    try {
      await file.handle.sync();
      name = finishedName(target, firstPostTime(target, rotate.timeField) ?? now());
      await rename(target, name);
    } catch (error) {
      rotateFrom = mono() + RETRY_MS;
      warn?.(`warning: cannot rename ${path}, which is finished: ${errno(error) || 'unknown error'}`);
      return;
    }
    syncFolder(dirname(target));
    await replace(await openAt(path));
    moved('finished', name);
  };

  const stream = new Writable({
    highWaterMark: 262_144,
    write(bytes: Buffer, _encoding, done) {
      inTurn(async () => {
        if (mono() - lookedAt >= LOOK_MS) await follow();
        await finish(bytes.length);
        await append(file, bytes, now());
        unconfirmed.push(bytes);
      }).then(() => done(), done);
    },
  });
  const sink = createSink(stream, { live: true, name: path });
  const sync = () =>
    inTurn(async () => {
      await follow();
      await file.handle.sync();
    }).catch((error: unknown) => {
      throw writeFailure(path, error);
    });

  return {
    get identity() {
      return file.identity;
    },
    sink: {
      ...sink,
      async flush() {
        await sink.flush();
        await sync();
      },
      async end() {
        try {
          await sink.end();
          await sync();
        } finally {
          await inTurn(() => file.handle.close());
        }
      },
      async abandon() {
        await sink.abandon();
        await inTurn(() => file.handle.close()).catch(() => {});
      },
    },
    async check() {
      try {
        await inTurn(async () => {
          await follow();
          await finish(0);
        });
      } catch (error) {
        stream.destroy(error instanceof Error ? error : new Error(String(error)));
      }
    },
  };
}

async function openAt(path: string): Promise<Opened> {
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
    };
    // A file that replaced another one may end in the middle of a line.
    const last = Buffer.alloc(1, NEWLINE);
    if (size > 0n) await handle.read(last, 0, 1, Number(size) - 1);
    if (last[0] !== NEWLINE) await append(file, Buffer.from('\n'), Number(mtimeMs));
    return file;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The file that a path leads to, if any. */
export async function identityAt(path: string): Promise<FileIdentity | undefined> {
  try {
    const { dev, ino } = await stat(path, { bigint: true });
    return { dev: String(dev), ino: String(ino) };
  } catch (error) {
    if (errno(error) === 'ENOENT' || errno(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

async function append(file: Opened, bytes: Buffer, now: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.handle.write(bytes, at)).bytesWritten;
  file.size += bytes.length;
  file.lastWriteAt = now;
  file.atLineEnd = bytes.at(-1) === NEWLINE;
}
