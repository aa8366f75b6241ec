import { fstatSync, fsync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { openPromise, quietly } from '../base/calls.ts';
import { Failure } from '../base/failure.ts';
import { errno, fileFailure } from '../base/files.ts';

export interface Sink {
  /** Returns a promise if the caller must wait for the reader. */
  write(chunk: string | Uint8Array): void | Promise<void>;
  flush(): Promise<void>;
  /** Once. A file gets its name if complete, is discarded, or is kept under another name, which is returned. */
  finish(as: OutputEnd): Promise<string | undefined>;
  /** Whether the reader closed the stream, or a write failed, before everything was written. */
  readonly lost?: () => boolean;
  readonly closed: AbortSignal;
  /** The bytes that the sink has accepted, and those that the operating system has received. */
  readonly progress?: () => { readonly accepted: number; readonly written: number };
}

type OutputEnd = 'complete' | 'kept' | 'discarded';

/** Writes bytes. If it returns no promise, they are written already. */
export type WriteBytes = (bytes: Uint8Array) => void | Promise<void>;

/** Repeats a step that a full disk may make fail; see `DiskWait`. */
export type Retry = <T>(step: () => T | Promise<T>) => Promise<T>;

export const tryOnce: Retry = async (step) => step();

export interface SinkOptions {
  readonly batch?: number;
  /** Whether each row leaves at once, and each flush syncs a file. Rows for pipes and terminals always leave at once. */
  readonly live?: boolean;
  readonly name?: string;
  /** Called right before data is written to the stream, which can be some turns after `write`. */
  readonly beforeWrite?: () => void;
  readonly retry?: Retry | undefined;
  readonly signal?: AbortSignal;
  /** A file that is synced: by each flush of a live sink, else at the end. */
  readonly fd?: number;
  /** Called once, after a complete output was flushed. Returns the name under which a file was kept. */
  readonly end?: (as: OutputEnd, reason: unknown) => unknown;
}

export const outputClosed: Error = Object.freeze(new Error('the reader has closed the pipe'));

/** Waiting each time that the stream is full, after a part of one batch, would leave the reader idle. */
const MAX_BATCHES_IN_FLIGHT = 4;

const closedCodes = new Set([
  'EPIPE',
  'ECONNRESET',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
]);

export function writeFailure(name: string, error: unknown): Failure {
  const hint =
    errno(error) === 'ENOSPC' ? 'free some disk space, or write to a different disk' : undefined;
  return fileFailure('write to', name, error, hint);
}

export const failureOf = (name: string, error: unknown): Failure =>
  error instanceof Failure ? error : writeFailure(name, error);

const streamClosed = Object.assign(new Error('the stream was closed'), {
  code: 'ERR_STREAM_DESTROYED',
});

const sync = promisify(fsync);

/** A write may be partial. Synchronous, because the page cache is faster than a detour through a thread. */
export const writeToFile =
  (fd: number, retry: Retry = tryOnce): WriteBytes =>
  (bytes) => {
    let at = 0;
    const step = () => {
      while (at < bytes.length) at += writeSync(fd, bytes, at);
    };
    try {
      return step();
    } catch {
      return retry(step);
    }
  };

/** Pipes and devices cannot be synced. */
export async function syncTo(fd: number, name: string): Promise<void> {
  try {
    await sync(fd);
  } catch (error) {
    // After EIO, the system has dropped the data, so a second sync would succeed.
    if (errno(error) !== 'EINVAL' && errno(error) !== 'ENOTSUP') throw writeFailure(name, error);
  }
}

/** Node's own stream to a regular file ignores partial writes. */
export function fileIn(stream: Writable): number | undefined {
  const fd = 'fd' in stream && typeof stream.fd === 'number' ? stream.fd : undefined;
  return fd !== undefined && quietly(() => fstatSync(fd).isFile()) ? fd : undefined;
}

/** Creates a sink for a stream that it does not close, such as standard output, or for a function that writes. */
export function createSink(
  target: Writable | WriteBytes,
  options: SinkOptions = {},
): Sink & { readonly fail: (error: unknown) => void } {
  const { name = 'standard output', retry = tryOnce } = options;
  const stream = typeof target === 'function' ? undefined : target;
  const fd = options.fd ?? (stream && fileIn(stream));
  const writeBytes =
    typeof target === 'function' ? target : fd === undefined ? undefined : writeToFile(fd, retry);
  // A person or a program at the other end acts on each row; a file is read when it is complete.
  const isPrompt = options.live === true || (stream !== undefined && fd === undefined);
  let ended = false;
  let before: Promise<void> | undefined;
  const size = options.batch ?? 65_536;
  const controller = new AbortController();
  let chunk = Buffer.allocUnsafeSlow(size);
  let used = 0;
  let inFlight = 0;
  let bytesInFlight = 0;
  let accepted = 0;
  let written = 0;
  let turn: NodeJS.Immediate | undefined;
  let failure: Failure | undefined;
  let over = false;
  // Never rejects: if a write fails in the meantime, the next `write` or `finish` throws the error.
  let room: ReturnType<typeof openPromise> | undefined;
  const idle: (() => void)[] = [];
  // Streams without a descriptor may still need a buffer after its write has completed.
  const reusesBuffers = stream !== undefined && 'fd' in stream && typeof stream.fd === 'number';
  const free: (typeof chunk)[] = [];

  const settleRoom = () => {
    room?.resolve();
    room = undefined;
  };
  const settleIdle = () => {
    for (const resolve of idle.splice(0)) resolve();
  };

  const stop = (error: unknown) => {
    if (!over) {
      over = true;
      if (!closedCodes.has(errno(error))) failure = failureOf(name, error);
      controller.abort(failure ?? outputClosed);
    }
    used = 0;
    settleRoom();
    settleIdle();
  };
  // Without this listener, a late EPIPE would end the process with a stack trace.
  stream?.on('error', stop);
  stream?.on('close', () => stop(streamClosed));

  const pass = (bytes: Uint8Array, done: (error?: unknown) => void): void => {
    if (!writeBytes) {
      stream?.write(bytes, done);
      return;
    }
    let writing: void | Promise<void>;
    try {
      writing = before ? before.then(() => writeBytes(bytes)) : writeBytes(bytes);
    } catch (error) {
      done(error);
      return;
    }
    if (!writing) {
      done();
      return;
    }
    before = writing;
    writing.then(() => {
      if (before === writing) before = undefined;
      done();
    }, done);
  };

  const send = (bytes: Uint8Array, of?: typeof chunk) => {
    inFlight++;
    bytesInFlight += bytes.length;
    options.beforeWrite?.();
    pass(bytes, (error) => {
      if (error) stop(error);
      inFlight--;
      bytesInFlight -= bytes.length;
      if (error) return;
      written += bytes.length;
      if (of && reusesBuffers) free.push(of);
      if (bytesInFlight < MAX_BATCHES_IN_FLIGHT * size) settleRoom();
      if (inFlight > 0) return;
      // What was added in the meantime is sent in one write, so a slow reader gets larger batches.
      if (isPrompt && used > 0) push();
      else settleIdle();
    });
    if (bytesInFlight >= MAX_BATCHES_IN_FLIGHT * size && !over) room ??= openPromise();
  };

  const push = () => {
    if (used === 0) return;
    const full = chunk;
    const bytes = chunk.subarray(0, used);
    used = 0;
    if (bytes.length < size / 4) return send(Buffer.from(bytes));
    chunk = free.pop() ?? Buffer.allocUnsafeSlow(size);
    return send(bytes, full);
  };

  const schedule = () => {
    if (!isPrompt || turn || inFlight > 0) return;
    turn = setImmediate(() => {
      turn = undefined;
      if (inFlight === 0 && !over) push();
    });
  };

  const add = (data: string | Uint8Array): void | Promise<void> => {
    // One UTF-16 unit takes at most three bytes in UTF-8.
    const most = typeof data === 'string' ? data.length * 3 : data.byteLength;
    if (most > size - used) push();
    if (most > size) {
      const bytes = typeof data === 'string' ? Buffer.from(data) : Buffer.from(data);
      accepted += bytes.length;
      send(bytes);
    } else {
      const start = used;
      if (typeof data === 'string') used += chunk.write(data, used);
      else {
        chunk.set(data, used);
        used += data.byteLength;
      }
      accepted += used - start;
    }
    if (used > 0) schedule();
    return room?.promise;
  };

  const flush = async () => {
    if (!over) {
      push();
      if (inFlight > 0) await new Promise<void>((resolve) => idle.push(resolve));
    }
    if (failure) throw failure;
    if (fd !== undefined && options.live) await retry(() => syncTo(fd, name));
  };

  return {
    closed: controller.signal,
    progress: () => ({ accepted, written }),
    fail: stop,
    write(data) {
      if (failure) return Promise.reject(failure);
      if (!over) return add(data);
    },
    flush,
    async finish(as) {
      if (ended) return undefined;
      await (as === 'complete' ? flush() : flush().catch(() => {}));
      if (as === 'complete' && options.fd !== undefined && !options.live)
        await syncTo(options.fd, name);
      ended = true;
      const kept = await options.end?.(as, controller.signal.reason);
      return typeof kept === 'string' ? kept : undefined;
    },
  };
}
