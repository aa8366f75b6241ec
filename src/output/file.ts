import { close, constants, fstatSync, write as fsWrite, fsync, openSync, statSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { dirname } from 'node:path';
import { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Failure } from '../base/failure.ts';
import { realPath } from '../base/files.ts';
import { replaceFile } from '../base/replace-file.ts';
import { codeOf, createSink, type Sink, type SinkOptions, writeFailure } from './sink.ts';

const isFolder = () => Object.assign(new Error('a folder'), { code: 'EISDIR' });

const failureOf = (path: string, error: unknown): Failure =>
  error instanceof Failure ? error : writeFailure(path, error);

/** Why a file cannot be opened: a path that leads nowhere was written wrong. */
function refusalOf(path: string, error: unknown): Failure {
  const failure = failureOf(path, error);
  const missing = dirname(path);
  const hint = {
    EISDIR: 'name a file in it',
    ENOENT: missing === '.' ? 'this folder is gone: go to another' : `make it first: mkdir -p '${missing}'`,
    ENOTDIR: 'name another file',
  }[failure.code];
  return hint === undefined
    ? failure
    : new Failure('usage', failure.message, { code: failure.code, hint, cause: error });
}

/** An open descriptor and the stream that writes to it. */
interface Written {
  readonly fd: number;
  readonly path: string;
  readonly stream: Writable;
  /** Closes the descriptor, if it is the sink's own. */
  close(): void;
}

const write = promisify(fsWrite);
const sync = promisify(fsync);

/** A stream onto a descriptor that leaves the closing to its owner. */
const streamOnto = (fd: number): Writable =>
  new Writable({
    highWaterMark: 262_144,
    async write(bytes: Buffer, _encoding, done) {
      try {
        for (let at = 0; at < bytes.length; ) {
          at += await write(fd, bytes, at, bytes.length - at, null).then(
            ({ bytesWritten }) => bytesWritten,
            // A pipe that another process opened without waiting is full.
            (error: unknown) => (codeOf(error) === 'EAGAIN' ? delay(FULL_PIPE_MS, 0) : Promise.reject(error)),
          );
        }
        done();
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
  });

const FULL_PIPE_MS = 10;

/** Pipes and devices cannot be synced, and need not be. */
const synced = ({ fd, path }: Written): Promise<void> =>
  sync(fd).catch((error: unknown) => {
    if (codeOf(error) !== 'EINVAL' && codeOf(error) !== 'ENOTSUP') throw failureOf(path, error);
  });

/** Closes the file whatever happens to the flush before. */
function sinkOn(file: Written, options: SinkOptions): Sink {
  const sink = createSink(file.stream, { ...options, name: file.path });
  return {
    ...sink,
    async end() {
      try {
        await sink.end();
        await synced(file);
      } finally {
        file.close();
      }
    },
    async abandon() {
      await sink.abandon();
      file.close();
    },
  };
}

/** The number of a descriptor that a path names, such as the `/dev/fd/63` of `>(command)`. */
export function descriptorIn(path: string): number | undefined {
  const [, name = '', number] =
    /^\/dev\/(?:(stdout|stderr)|fd\/(\d+))$|^\/proc\/self\/fd\/(\d+)$/.exec(path) ?? [];
  const fd = { stdout: '1', stderr: '2' }[name] ?? number ?? /^\/proc\/self\/fd\/(\d+)$/.exec(path)?.[1];
  return fd === undefined ? undefined : Number(fd);
}

/**
 * Opens a pipe or a device. Neither opening nor writing may block a thread: `process.exit` waits for it, and a
 * signal cannot end it.
 */
async function openPipe(path: string, signal: AbortSignal | undefined): Promise<Written> {
  const fd = descriptorIn(path);
  for (;;) {
    signal?.throwIfAborted();
    try {
      return pipeOn(openSync(path, constants.O_WRONLY | (constants.O_NONBLOCK ?? 0)), path);
    } catch (error) {
      if (codeOf(error) !== 'ENXIO') throw error;
      // A socket cannot be opened by its path.
      if (fd !== undefined) return { fd, path, stream: streamOnto(fd), close: () => {} };
      // Any other file without a reader is a FIFO, or a device without a driver.
      if (!statSync(path).isFIFO()) throw error;
      await delay(NO_READER_MS, undefined, signal && { signal }).catch(() => {});
    }
  }
}

/** The time between two attempts to open a FIFO that has no reader yet. */
const NO_READER_MS = 20;

function pipeOn(fd: number, path: string): Written {
  if (!fstatSync(fd).isFIFO()) return { fd, path, stream: streamOnto(fd), close: () => close(fd, () => {}) };
  const stream = new Socket({ fd, readable: false, writable: true });
  return { fd, path, stream, close: () => void stream.destroy() };
}

/** How a file is opened. */
export interface FileOptions extends SinkOptions {
  /** Ends a wait for the reader of a FIFO. */
  readonly signal?: AbortSignal;
}

/** A file that appears whole, under its name, at `end()`, or not at all. Devices and pipes are written to as they are. */
export async function fileSink(path: string, { signal, ...options }: FileOptions = {}): Promise<Sink> {
  try {
    const before = await statOf(path);
    if (before?.isDirectory() || /[\\/]$/.test(path)) throw isFolder();
    if (before && (!before.isFile() || descriptorIn(path) !== undefined)) {
      return sinkOn(await openPipe(path, signal), options);
    }
    const file = replaceFile(path);
    // The replacement closes its descriptor itself.
    const sink = createSink(streamOnto(file.fd), { ...options, name: path });
    let settled: Promise<void> | undefined;
    const finish = async (put: () => void) => {
      try {
        await sink.end();
        await sync(file.fd);
      } catch (error) {
        file.discard();
        throw failureOf(path, error);
      }
      try {
        put();
      } catch (error) {
        throw failureOf(path, error);
      }
    };
    return {
      ...sink,
      end() {
        settled ??= finish(() => file.commit());
        return settled;
      },
      abandon() {
        settled ??= sink.abandon().then(() => file.discard());
        return settled.catch(() => {});
      },
      async setAside() {
        const partial = `${path}.partial`;
        settled = finish(() => file.saveAs(`${realPath(path)}.partial`));
        await settled;
        return partial;
      },
    };
  } catch (error) {
    signal?.throwIfAborted();
    throw refusalOf(path, error);
  }
}

const statOf = (path: string) =>
  stat(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });

/** Adds to the end of a file, for streams: what is there stays, what is flushed is on disk. */
export async function appendSink(path: string, { signal, ...options }: FileOptions = {}): Promise<Sink> {
  try {
    if (/[\\/]$/.test(path)) throw isFolder();
    const before = await statOf(path);
    const file = before && !before.isFile() ? await openPipe(path, signal) : await openToAppend(path);
    const sink = sinkOn(file, options);
    return {
      ...sink,
      async flush() {
        await sink.flush();
        await synced(file);
      },
    };
  } catch (error) {
    signal?.throwIfAborted();
    throw refusalOf(path, error);
  }
}

async function openToAppend(path: string): Promise<Written> {
  const handle = await open(path, 'a', 0o666);
  return {
    fd: handle.fd,
    path,
    stream: streamOnto(handle.fd),
    close: () => void handle.close().catch(() => {}),
  };
}
