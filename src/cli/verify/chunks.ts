import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Failure } from '../../base/failure.ts';
import { fileFailure } from '../../base/files.ts';

const DAMAGED = 'DAMAGED_GZIP';
const CHUNK = 128 * 1024;

/** The content of a file or a pipe, unpacked if it is gzipped. A chunk is valid until the next one is requested. */
export async function* chunksOf(file: string): AsyncGenerator<Buffer, void, void> {
  let handle: FileHandle;
  try {
    handle = await open(file, 'r');
  } catch (error) {
    throw fileFailure('read', file, error);
  }
  try {
    const chunks = readFrom(handle);
    const { value: first, done } = await chunks.next();
    if (done) return;
    if (first[0] !== 0x1f || first[1] !== 0x8b) {
      yield first;
      yield* chunks;
      return;
    }
    const packed = (async function* () {
      // The chunk is reused.
      yield Buffer.from(first);
      for await (const chunk of chunks) yield Buffer.from(chunk);
    })();
    const unpacked = createGunzip({ chunkSize: CHUNK / 2 });
    const source = Readable.from(packed);
    source.on('error', (error) => unpacked.destroy(error));
    yield* source.pipe(unpacked);
  } catch (error) {
    const isZlib = error instanceof Error && 'code' in error && /^Z_/.test(String(error.code));
    throw isZlib
      ? new Failure('local', `${file} is damaged or incomplete`, { code: DAMAGED })
      : fileFailure('read', file, error);
  } finally {
    await handle.close();
  }
}

export const isDamaged = (error: unknown): boolean => error instanceof Failure && error.code === DAMAGED;

async function* readFrom(handle: FileHandle): AsyncGenerator<Buffer, void, void> {
  const chunk = Buffer.allocUnsafeSlow(CHUNK);
  for (;;) {
    const { bytesRead } = await handle.read(chunk, 0, CHUNK, null);
    if (bytesRead === 0) return;
    yield chunk.subarray(0, bytesRead);
  }
}
