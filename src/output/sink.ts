import type { Writable } from 'node:stream';
import { Failure } from '../base/failure.ts';

/** The one writer of a run: batches, waits for the reader, and loses nothing. */
export interface Sink {
  /** Takes text or bytes; returns a promise where the caller has to wait for the reader. */
  write(chunk: string | Uint8Array): void | Promise<void>;
  /** Resolves when all that was written has left the process. */
  flush(): Promise<void>;
  /** Flushes, and makes a file appear under its name. */
  end(): Promise<void>;
  /** Ends without success: a file is given up, a stream keeps what it was given. */
  abandon(): Promise<void>;
  /** Ends a file without success, but saves what was written under another name, which it returns. */
  readonly setAside?: () => Promise<string>;
  /** True if something that was written did not leave the process, because the reader has gone. */
  readonly lost?: () => boolean;
  /** Aborted when the reader has closed (reason `outputClosed`) or writing failed (reason: the Failure). */
  readonly closed: AbortSignal;
}

/** How a sink batches, and what it is called in errors. */
export interface SinkOptions {
  /** Bytes gathered before a write. */
  readonly batch?: number;
  /** Writes at the end of each turn too, as long as no earlier write is on its way. */
  readonly live?: boolean;
  readonly name?: string;
}

/** Why `closed` was aborted where the reader has gone: a clean end, no failure. */
export const outputClosed: Error = Object.freeze(new Error('the reader has gone'));

/**
 * Batches that may be on their way before the writer has to wait. A stream calls itself full at a fraction of one:
 * to wait for each would keep the reader waiting, too.
 */
const AHEAD = 4;

const gone = new Set(['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END']);

/** The `code` of an error of the system, or its name. */
export const codeOf = (error: unknown): string =>
  error instanceof Error ? ('code' in error && typeof error.code === 'string' ? error.code : error.name) : '';

const reasons: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file is larger than allowed',
  EACCES: 'no permission',
  EPERM: 'no permission',
  EROFS: 'the disk is read-only',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is not a folder',
  ENOENT: 'the folder does not exist',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'its symbolic links go in a circle',
  EIO: 'the device failed',
};

/** What stands in the way of writing to `name`, as a Failure. */
export function writeFailure(name: string, error: unknown): Failure {
  const code = codeOf(error);
  const reason = reasons[code] ?? (error instanceof Error ? error.message : String(error));
  return new Failure('local', `cannot write to ${name}: ${reason}`, {
    code: code || 'WRITE_FAILED',
    hint: code === 'ENOSPC' ? 'free some space, or write elsewhere' : undefined,
    cause: error,
  });
}

const streamClosed = Object.assign(new Error('the stream was closed'), { code: 'ERR_STREAM_DESTROYED' });

/** Writes to a stream that stays open, such as standard output. */
export function createSink(stream: Writable, options: SinkOptions = {}): Sink {
  const size = options.batch ?? 65_536;
  const controller = new AbortController();
  let chunk = Buffer.allocUnsafeSlow(size);
  let used = 0;
  let inFlight = 0;
  let bytesInFlight = 0;
  let turn: NodeJS.Immediate | undefined;
  let failure: Failure | undefined;
  let over = false;
  let lost = false;
  // A wait for the reader never rejects: a failure shows at the next write, or at the end.
  let room: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;
  const idle: (() => void)[] = [];
  // A stream onto a descriptor has no more use for what it says it has written. Others may keep it.
  const letsGo = 'fd' in stream && typeof stream.fd === 'number';
  const free: (typeof chunk)[] = [];

  const settleRoom = () => {
    room?.resolve();
    room = undefined;
  };
  const settleIdle = () => {
    for (const resolve of idle.splice(0)) resolve();
  };

  const stop = (error: unknown) => {
    lost ||= used > 0 || bytesInFlight > 0;
    if (!over) {
      over = true;
      if (!gone.has(codeOf(error))) failure = writeFailure(options.name ?? 'standard output', error);
      controller.abort(failure ?? outputClosed);
    }
    used = 0;
    settleRoom();
    settleIdle();
  };
  // Stays attached for good: a late EPIPE without a listener would end the process with a stack.
  stream.on('error', stop);
  stream.on('close', () => stop(streamClosed));

  const waitForRoom = () => {
    let resolve = () => {};
    const promise = new Promise<void>((done) => {
      resolve = done;
    });
    room = { promise, resolve };
  };

  const send = (bytes: Uint8Array, of?: typeof chunk) => {
    inFlight++;
    bytesInFlight += bytes.length;
    stream.write(bytes, (error) => {
      if (error) stop(error);
      inFlight--;
      bytesInFlight -= bytes.length;
      if (error) return;
      if (of && letsGo) free.push(of);
      if (bytesInFlight < AHEAD * size) settleRoom();
      if (inFlight > 0) return;
      // What came in meanwhile goes out as one piece: batches grow as far as the reader is slow.
      if (options.live && used > 0) push();
      else settleIdle();
    });
    if (bytesInFlight >= AHEAD * size && !over && !room) waitForRoom();
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
    if (!options.live || turn || inFlight > 0) return;
    turn = setImmediate(() => {
      turn = undefined;
      if (inFlight === 0 && !over) push();
    });
  };

  const add = (data: string | Uint8Array): void | Promise<void> => {
    // Three bytes are the most that one UTF-16 unit becomes.
    const most = typeof data === 'string' ? data.length * 3 : data.byteLength;
    if (most > size - used) push();
    if (most > size) send(typeof data === 'string' ? Buffer.from(data) : Buffer.from(data));
    else if (typeof data === 'string') used += chunk.write(data, used);
    else {
      chunk.set(data, used);
      used += data.byteLength;
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
  };

  return {
    closed: controller.signal,
    lost: () => lost,
    write(data) {
      if (failure) return Promise.reject(failure);
      if (!over) return add(data);
      lost ||= data.length > 0;
    },
    flush,
    end: flush,
    abandon: () => flush().catch(() => {}),
  };
}
