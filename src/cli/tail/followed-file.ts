import { type FileHandle, open, stat } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { errno } from '../../base/files.ts';
import { createSink, type Sink, writeFailure } from '../../output/sink.ts';

/** What happened to a file while the tail was writing it. */
export type Moved = 'renamed' | 'deleted';

/** Identifies a file independently of its name. */
export interface FileIdentity {
  readonly dev: string;
  readonly ino: string;
}

/** An output file that is appended to and may be renamed, replaced or deleted meanwhile. */
export interface FollowedFile {
  readonly sink: Sink;
  readonly identity: FileIdentity;
  /** Checks whether the path still leads to the open file; otherwise continues in a new one. */
  check(): Promise<void>;
}

interface FollowedOptions {
  readonly mono: () => number;
  readonly moved: (how: Moved) => void;
}

/** A check costs a system call, which is too much for each write of a fast feed. */
const LOOK_MS = 50;
const NEWLINE = 10;

/**
 * Opens a file for appending. Text written after the file was deleted is written to the next file again.
 */
export async function openFollowed(path: string, { mono, moved }: FollowedOptions): Promise<FollowedFile> {
  let { handle, identity } = await openAt(path).catch((error: unknown) => {
    throw writeFailure(path, error);
  });
  // Written since the path was last known to lead to the open file; lost if the file was deleted before.
  let unconfirmed: Buffer[] = [];
  let lookedAt = mono();
  let turn: Promise<void> = Promise.resolve();

  /** One step at a time: writes and checks must not overlap. */
  const inTurn = (step: () => Promise<void>): Promise<void> => {
    const done = turn.then(step);
    turn = done.catch(() => {});
    return done;
  };

  const follow = async () => {
    lookedAt = mono();
    const now = await identityAt(path);
    if (now?.dev === identity.dev && now.ino === identity.ino) {
      unconfirmed = [];
      return;
    }
    const deleted = (await handle.stat()).nlink === 0;
    const next = await openAt(path);
    if (deleted) for (const bytes of unconfirmed) await writeWhole(next.handle, bytes);
    else await handle.sync();
    await handle.close();
    ({ handle, identity } = next);
    unconfirmed = [];
    moved(deleted ? 'deleted' : 'renamed');
  };

  const stream = new Writable({
    highWaterMark: 262_144,
    write(bytes: Buffer, _encoding, done) {
      inTurn(async () => {
        if (mono() - lookedAt >= LOOK_MS) await follow();
        await writeWhole(handle, bytes);
        unconfirmed.push(bytes);
      }).then(() => done(), done);
    },
  });
  const sink = createSink(stream, { live: true, name: path });
  const sync = () =>
    inTurn(async () => {
      await follow();
      await handle.sync();
    }).catch((error: unknown) => {
      throw writeFailure(path, error);
    });

  return {
    get identity() {
      return identity;
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
          await inTurn(() => handle.close());
        }
      },
      async abandon() {
        await sink.abandon();
        await inTurn(() => handle.close()).catch(() => {});
      },
    },
    async check() {
      try {
        await inTurn(follow);
      } catch (error) {
        stream.destroy(error instanceof Error ? error : new Error(String(error)));
      }
    },
  };
}

async function openAt(path: string): Promise<{ handle: FileHandle; identity: FileIdentity }> {
  if (/[\\/]$/.test(path)) throw Object.assign(new Error('a folder'), { code: 'EISDIR' });
  const handle = await open(path, 'a+', 0o666);
  try {
    const { dev, ino, size } = await handle.stat({ bigint: true });
    // A file that replaced another one may end in the middle of a line.
    const last = Buffer.alloc(1, NEWLINE);
    if (size > 0n) await handle.read(last, 0, 1, Number(size) - 1);
    if (last[0] !== NEWLINE) await writeWhole(handle, Buffer.from('\n'));
    return { handle, identity: { dev: String(dev), ino: String(ino) } };
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

async function writeWhole(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at)).bytesWritten;
}
