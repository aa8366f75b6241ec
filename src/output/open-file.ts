import { close, constants, fstatSync, write as fsWrite, openSync, statSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { errno } from '../base/files.ts';
import { type Retry, type WriteBytes, writeToFile } from './sink.ts';

export interface OpenFile {
  readonly fd: number;
  readonly path: string;
  readonly target: Writable | WriteBytes;
  close(): void;
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
        (error: unknown) => (errno(error) === 'EAGAIN' ? delay(FULL_PIPE_MS, 0) : Promise.reject(error)),
      );
    }
  };

/** Shells use paths such as `/dev/fd/63` for `>(command)`. */
export function descriptorIn(path: string): number | undefined {
  const [, name = '', number] =
    /^\/dev\/(?:(stdout|stderr)|fd\/(\d+))$|^\/proc\/self\/fd\/(\d+)$/.exec(path) ?? [];
  const fd = { stdout: '1', stderr: '2' }[name] ?? number ?? /^\/proc\/self\/fd\/(\d+)$/.exec(path)?.[1];
  return fd === undefined ? undefined : Number(fd);
}

/** A thread that blocks in `open` or `write` would delay `process.exit`; a signal could not end the run. */
export async function openPipe(path: string, signal: AbortSignal | undefined): Promise<OpenFile> {
  const fd = descriptorIn(path);
  for (;;) {
    signal?.throwIfAborted();
    try {
      return await pipeOn(openSync(path, constants.O_WRONLY | (constants.O_NONBLOCK ?? 0)), path);
    } catch (error) {
      if (errno(error) !== 'ENXIO') throw error;
      // The path of a socket cannot be opened.
      if (fd !== undefined) return { fd, path, target: writeTo(fd), close: () => {} };
      // A FIFO has no reader yet. For a device, the error means that it has no driver.
      if (!statSync(path).isFIFO()) throw error;
      await delay(NO_READER_MS, undefined, signal && { signal }).catch(() => {});
    }
  }
}

const NO_READER_MS = 20;

async function pipeOn(fd: number, path: string): Promise<OpenFile> {
  if (!fstatSync(fd).isFIFO()) return { fd, path, target: writeTo(fd), close: () => close(fd, () => {}) };
  const { Socket } = await import('node:net');
  const stream = new Socket({ fd, readable: false, writable: true });
  return { fd, path, target: stream, close: () => void stream.destroy() };
}

export function openToAppend(path: string, retry: Retry | undefined): OpenFile {
  const fd = openSync(path, 'a', 0o666);
  return { fd, path, target: writeToFile(fd, retry), close: () => close(fd, () => {}) };
}
