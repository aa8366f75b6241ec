import {
  close,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  write as fsWrite,
  openSync,
  readSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { quietly } from '../base/calls.ts';
import { Failure } from '../base/failure.ts';
import {
  discard,
  errno,
  fileError,
  isDiskFull,
  PRIVATE_FILE,
  realPath,
  statsOf,
  temporaryIn,
  writeAll,
} from '../base/files.ts';
import { type Replacement, replaceFile } from '../base/replace-file.ts';
import {
  createSink,
  failureOf,
  type Sink,
  type SinkOptions,
  syncTo,
  type WriteBytes,
  writeFailure,
  writeToFile,
} from './sink.ts';

/** A wrong path is a usage error. */
function openFailure(path: string, error: unknown): Failure {
  const failure = failureOf(path, error);
  const hint = {
    EISDIR: 'give the name of a file in that folder',
    ENOENT: missingFolder(path),
    ENOTDIR: 'use a different path',
  }[failure.code];
  return hint === undefined
    ? failure
    : new Failure('usage', failure.message, { code: failure.code, hint, cause: error });
}

/** If the path is a symbolic link, the folder of its target is missing. */
function missingFolder(path: string): string {
  let folder = dirname(path);
  try {
    if (existsSync(folder)) folder = dirname(realPath(path));
  } catch {
    // A relative path has no real path if the current folder was deleted.
  }
  return folder === '.'
    ? 'the current folder was deleted; change to an existing one'
    : `create it first: mkdir -p '${folder}'`;
}

/**
 * A regular file gets its name only when it is complete. Pipes and devices are written directly.
 */
export const fileSink = (path: string, { signal, ...options }: SinkOptions): Promise<Sink> =>
  opened(path, signal, async (before) => {
    if (before && (!before.isFile() || descriptorIn(path) !== undefined))
      return await openPipe(path, signal, options);
    const file = replaceFile(path);
    const { fd } = file;
    return createSink(writeToFile(fd), {
      ...options,
      name: path,
      fd,
      async end(as, reason) {
        if (as === 'kept' && fstatSync(fd).size > 0) {
          await syncTo(fd, path).catch(() => {});
          return saveBeside(file, path);
        }
        if (as === 'complete') commitOrSaveBeside(file, path);
        else file.discard();
        if (as === 'kept' && reason instanceof Failure) throw reason;
        return undefined;
      },
    });
  });

/** Each flush of a live sink also syncs to disk. */
export const appendSink = (path: string, { signal, ...options }: SinkOptions): Promise<Sink> =>
  opened(path, signal, async (before) => {
    if (before && !before.isFile()) return await openPipe(path, signal, options);
    const fd = openSync(path, 'a', 0o666);
    const end = () => close(fd, () => {});
    return createSink(writeToFile(fd, options.retry), { ...options, name: path, fd, end });
  });

async function opened(
  path: string,
  signal: AbortSignal | undefined,
  open: (before: Stats | undefined) => Promise<Sink>,
): Promise<Sink> {
  try {
    const before = statsOf(path);
    if (before?.isDirectory() || /[\\/]$/.test(path)) throw fileError('EISDIR');
    return await open(before);
  } catch (error) {
    signal?.throwIfAborted();
    throw openFailure(path, error);
  }
}

/**
 * If the replacement fails, saves the file beside its target, because its rows may have been paid
 * for.
 */
function commitOrSaveBeside(file: Replacement, path: string): void {
  try {
    file.commit({ keep: true });
  } catch (error) {
    const failure = failureOf(path, error);
    const saved = quietly(() => saveBeside(file, path));
    const rest =
      saved === undefined ? 'the result could not be saved' : `the complete result is in ${saved}`;
    throw new Failure(failure.kind, `${failure.message}; ${rest}`, failure);
  }
}

/** Returns the path, if possible with the path of the target as the user wrote it. */
function saveBeside(file: Replacement, path: string): string {
  const saved = file.saveBeside();
  const target = realPath(path);
  return saved.startsWith(`${target}.partial`) ? `${path}${saved.slice(target.length)}` : saved;
}

const write = promisify(fsWrite);
const FULL_PIPE_MS = 10;

/** Another process may have made the pipe non-blocking. */
const writeTo =
  (fd: number): WriteBytes =>
  async (bytes) => {
    for (let at = 0; at < bytes.length; ) {
      at += await write(fd, bytes, at, bytes.length - at, null).then(
        ({ bytesWritten }) => bytesWritten,
        (error: unknown) =>
          errno(error) === 'EAGAIN' ? delay(FULL_PIPE_MS, 0) : Promise.reject(error),
      );
    }
  };

/** Shells use paths such as `/dev/fd/63` for `>(command)`. */
export function descriptorIn(path: string): number | undefined {
  const [, name = '', number] =
    /^\/(?:dev\/(stdout|stderr)|(?:dev|proc\/self)\/fd\/(\d+))$/.exec(path) ?? [];
  const fd = { stdout: '1', stderr: '2' }[name] ?? number;
  return fd === undefined ? undefined : Number(fd);
}

/**
 * A thread that blocks in `open` or `write` would delay `process.exit`; a signal could not end the
 * run.
 */
async function openPipe(
  path: string,
  signal: AbortSignal | undefined,
  options: SinkOptions,
): Promise<Sink> {
  const named = { ...options, name: path };
  const inherited = descriptorIn(path);
  for (;;) {
    signal?.throwIfAborted();
    try {
      const fd = openSync(path, constants.O_WRONLY | (constants.O_NONBLOCK ?? 0));
      if (!fstatSync(fd).isFIFO())
        return createSink(writeTo(fd), { ...named, fd, end: () => close(fd, () => {}) });
      const { Socket } = await import('node:net');
      const stream = new Socket({ fd, readable: false, writable: true });
      return createSink(stream, { ...named, end: () => void stream.destroy() });
    } catch (error) {
      if (errno(error) !== 'ENXIO') throw error;
      // The path of a socket cannot be opened.
      if (inherited !== undefined) return createSink(writeTo(inherited), named);
      // A FIFO has no reader yet. For a device, the error means that it has no driver.
      if (!statSync(path).isFIFO()) throw error;
      await delay(NO_READER_MS, undefined, signal && { signal }).catch(() => {});
    }
  }
}

const NO_READER_MS = 20;

const LEAST_BYTES = 16_384;

/**
 * So that a run whose disk is full ends before it pays. Other programs may be reading the file
 * itself.
 */
export function checkSpace(path: string, name: string = path): void {
  const temporary = temporaryIn(dirname(realPath(path)));
  let fd: number;
  try {
    fd = openSync(temporary, 'wx', PRIVATE_FILE);
  } catch (error) {
    // A file can grow although its folder is missing or write-protected.
    if (isDiskFull(error)) throw writeFailure(name, error);
    return;
  }
  try {
    writeAll(fd, Buffer.alloc(LEAST_BYTES));
  } catch (error) {
    throw writeFailure(name, error);
  } finally {
    closeSync(fd);
    discard(temporary);
  }
}

/**
 * Prepares the file to which the stdout of a tail was redirected: checks the space, and ends a line
 * that a killed run left incomplete.
 */
export function prepareFile(fd: number): void {
  const path = `/proc/self/fd/${fd}`;
  checkSpace(path, 'stdout');
  const last = Buffer.from('\n');
  try {
    const { size } = fstatSync(fd);
    const reader = openSync(path, 'r');
    if (size > 0) readSync(reader, last, 0, 1, size - 1);
    closeSync(reader);
  } catch {
    // Only Linux can open the file again, and only if it may be read.
  }
  if (last.toString() === '\n') return;
  try {
    writeSync(fd, '\n');
  } catch (error) {
    throw writeFailure('stdout', error);
  }
}
