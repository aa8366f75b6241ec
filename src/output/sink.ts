import { fstatSync, fsync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { type OpenPromise, openPromise, quietly } from '../base/calls.ts';
import { Failure } from '../base/failure.ts';
import { errno, fileFailure } from '../base/files.ts';

export interface Sink {
  /** Returns a promise if the caller must wait for the reader. */
  write(chunk: string | Uint8Array): void | Promise<void>;
  flush(): Promise<void>;
  /**
   * Once. A file gets its name if complete, is discarded, or is kept under another name, which is
   * returned.
   */
  finish(as: OutputEnd): Promise<string | undefined>;
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
  /**
   * Whether each row leaves at once, and each flush syncs a file. Rows for pipes and terminals
   * always leave at once.
   */
  readonly live?: boolean;
  readonly name?: string;
  /** Called right before data is written to the stream, which can be some turns after `write`. */
  readonly beforeWrite?: ((bytes: Uint8Array) => void) | undefined;
  readonly retry?: Retry | undefined;
  readonly signal?: AbortSignal;
  /** A file that is synced: by each flush of a live sink, else at the end. */
  readonly fd?: number;
  /**
   * Called once, after a complete output was flushed. Returns the name under which a file was kept.
   */
  readonly end?: (as: OutputEnd, reason: unknown) => unknown;
}

export const outputClosed: Error = Object.freeze(new Error('the reader has closed the pipe'));

/**
 * Waiting each time that the stream is full, after a part of one batch, would leave the reader
 * idle.
 */
const MAX_BATCHES_IN_FLIGHT = 4;

/** The size of a buffer, in bytes. */
const BATCH = 65_536;

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

/**
 * A write may be partial. Synchronous, because the page cache is faster than a detour through a
 * thread.
 */
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

interface ByteWriter {
  /** Calls `done` when the bytes are written, or have failed to be. */
  write(bytes: Uint8Array, done: (error?: unknown) => void): void;
}

/**
 * Calls a function for each piece of the output, in order: if one returns a promise, the next waits
 * for it.
 */
class OrderedWriter implements ByteWriter {
  readonly #writeBytes: WriteBytes;
  #before: Promise<void> | undefined;

  constructor(writeBytes: WriteBytes) {
    this.#writeBytes = writeBytes;
  }

  write(bytes: Uint8Array, done: (error?: unknown) => void): void {
    let writing: void | Promise<void>;
    try {
      writing = this.#before
        ? this.#before.then(() => this.#writeBytes(bytes))
        : this.#writeBytes(bytes);
    } catch (error) {
      done(error);
      return;
    }
    if (!writing) {
      done();
      return;
    }
    this.#before = writing;
    writing.then(() => {
      if (this.#before === writing) this.#before = undefined;
      done();
    }, done);
  }
}

interface BufferOptions {
  readonly writer: ByteWriter;
  readonly name: string;
  /** Whether rows leave at the end of a turn, and not only when the buffer is full. */
  readonly isPrompt: boolean;
  /** Whether the writer needs a buffer no more when its write has completed. */
  readonly reusesBuffers: boolean;
  readonly beforeWrite: ((bytes: Uint8Array) => void) | undefined;
}

/**
 * Collects rows in a buffer and passes full buffers to a writer. A few are in flight at a time;
 * then `write` returns a promise.
 */
class Buffered {
  readonly #options: BufferOptions;
  readonly #controller = new AbortController();
  #chunk: Buffer = Buffer.allocUnsafeSlow(BATCH);
  #used = 0;
  /** The buffers of completed writes. */
  readonly #free: Buffer[] = [];
  #inFlight = 0;
  #bytesInFlight = 0;
  #accepted = 0;
  #written = 0;
  #turn: NodeJS.Immediate | undefined;
  #failure: Failure | undefined;
  #isOver = false;
  /**
   * What writers wait for. It never rejects: if a write fails in the meantime, the next `write` or
   * `finish` throws the error.
   */
  #room: OpenPromise | undefined;
  /** What flushes wait for. */
  readonly #idle: (() => void)[] = [];

  constructor(options: BufferOptions) {
    this.#options = options;
  }

  get closed(): AbortSignal {
    return this.#controller.signal;
  }

  get progress(): { readonly accepted: number; readonly written: number } {
    return { accepted: this.#accepted, written: this.#written };
  }

  write(data: string | Uint8Array): void | Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    if (this.#isOver) return;
    // One UTF-16 unit takes at most three bytes in UTF-8.
    const maxBytes = typeof data === 'string' ? data.length * 3 : data.byteLength;
    if (maxBytes > BATCH - this.#used) this.#push();
    if (maxBytes > BATCH) this.#sendAlone(data);
    else this.#append(data);
    if (this.#used > 0) this.#schedule();
    return this.#room?.promise;
  }

  async flush(): Promise<void> {
    if (!this.#isOver) {
      this.#push();
      if (this.#inFlight > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
    if (this.#failure) throw this.#failure;
  }

  /** Ends the output. A reader that has closed it did not fail. */
  stop(error: unknown): void {
    if (!this.#isOver) {
      this.#isOver = true;
      if (!closedCodes.has(errno(error))) this.#failure = failureOf(this.#options.name, error);
      this.#controller.abort(this.#failure ?? outputClosed);
    }
    this.#used = 0;
    this.#settleRoom();
    this.#settleIdle();
  }

  #append(data: string | Uint8Array): void {
    const start = this.#used;
    if (typeof data === 'string') this.#used += this.#chunk.write(data, this.#used);
    else {
      this.#chunk.set(data, this.#used);
      this.#used += data.byteLength;
    }
    this.#accepted += this.#used - start;
  }

  #sendAlone(data: string | Uint8Array): void {
    const bytes = typeof data === 'string' ? Buffer.from(data) : Buffer.from(data);
    this.#accepted += bytes.length;
    this.#send(bytes);
  }

  #schedule(): void {
    if (!this.#options.isPrompt || this.#turn || this.#inFlight > 0) return;
    this.#turn = setImmediate(() => {
      this.#turn = undefined;
      if (this.#inFlight === 0 && !this.#isOver) this.#push();
    });
  }

  #push(): void {
    if (this.#used === 0) return;
    const full = this.#chunk;
    const bytes = full.subarray(0, this.#used);
    this.#used = 0;
    if (bytes.length < BATCH / 4) {
      this.#send(Buffer.from(bytes));
      return;
    }
    this.#chunk = this.#free.pop() ?? Buffer.allocUnsafeSlow(BATCH);
    this.#send(bytes, full);
  }

  #send(bytes: Uint8Array, buffer?: Buffer): void {
    this.#inFlight++;
    this.#bytesInFlight += bytes.length;
    this.#options.beforeWrite?.(bytes);
    this.#options.writer.write(bytes, (error) => {
      if (error) this.stop(error);
      this.#inFlight--;
      this.#bytesInFlight -= bytes.length;
      if (!error) this.#sent(bytes.length, buffer);
    });
    if (this.#isFull && !this.#isOver) this.#room ??= openPromise();
  }

  #sent(length: number, buffer: Buffer | undefined): void {
    this.#written += length;
    if (buffer && this.#options.reusesBuffers) this.#free.push(buffer);
    if (!this.#isFull) this.#settleRoom();
    if (this.#inFlight > 0) return;
    // What was added in the meantime is sent in one write, so a slow reader gets larger batches.
    if (this.#options.isPrompt && this.#used > 0) this.#push();
    else this.#settleIdle();
  }

  get #isFull(): boolean {
    return this.#bytesInFlight >= MAX_BATCHES_IN_FLIGHT * BATCH;
  }

  #settleRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  #settleIdle(): void {
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}

/**
 * Creates a sink for a stream that it does not close, such as standard output, or for a function
 * that writes.
 */
export function createSink(
  target: Writable | WriteBytes,
  options: SinkOptions = {},
): Sink & { readonly fail: (error: unknown) => void } {
  const { name = 'standard output', retry = tryOnce, live: isLive = false } = options;
  const stream = typeof target === 'function' ? undefined : target;
  const fd = options.fd ?? (stream && fileIn(stream));
  const buffered = new Buffered({
    writer: writerTo(target, fd, retry),
    name,
    // A person or a program at the other end acts on each row; a file is read when it is complete.
    isPrompt: isLive || (stream !== undefined && fd === undefined),
    // Streams without a descriptor may still need a buffer after its write has completed.
    reusesBuffers: stream !== undefined && 'fd' in stream && typeof stream.fd === 'number',
    beforeWrite: options.beforeWrite,
  });
  const fail = (error: unknown) => buffered.stop(error);
  // Without this listener, a late EPIPE would end the process with a stack trace.
  stream?.on('error', fail);
  stream?.on('close', () => fail(streamClosed));
  const flush = async () => {
    await buffered.flush();
    if (fd !== undefined && isLive) await retry(() => syncTo(fd, name));
  };
  let isEnded = false;
  return {
    closed: buffered.closed,
    progress: () => buffered.progress,
    fail,
    write: (data) => buffered.write(data),
    flush,
    async finish(as) {
      if (isEnded) return undefined;
      await (as === 'complete' ? flush() : flush().catch(() => {}));
      if (as === 'complete' && options.fd !== undefined && !isLive) await syncTo(options.fd, name);
      isEnded = true;
      const kept = await options.end?.(as, buffered.closed.reason);
      return typeof kept === 'string' ? kept : undefined;
    },
  };
}

function writerTo(target: Writable | WriteBytes, fd: number | undefined, retry: Retry): ByteWriter {
  if (typeof target === 'function') return new OrderedWriter(target);
  if (fd !== undefined) return new OrderedWriter(writeToFile(fd, retry));
  return { write: (bytes, done) => void target.write(bytes, done) };
}
