import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, stat, unlink, utimes } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { fileFailure, syncFolder } from '../../../base/files.ts';
import { finishedFiles } from './rotation.ts';

/** Compresses finished files in the background, one at a time. */
export interface Compressor {
  /** Compresses all finished files, including those of earlier runs. */
  start(): void;
  /** Resolves when the compression has ended. An aborted signal ends the compression early. */
  settled(): Promise<void>;
}

export function createCompressor(
  out: string,
  signal: AbortSignal,
  notice: (text: string) => void,
): Compressor {
  const failed = new Set<string>();
  let job: Promise<void> | undefined;
  let again = false;

  const work = async () => {
    do {
      again = false;
      for (const { path, isCompressed } of finishedFiles(out)) {
        if (isCompressed || failed.has(path) || signal.aborted) continue;
        try {
          await compress(path, signal);
        } catch (error) {
          if (signal.aborted) return;
          failed.add(path);
          notice(`warning: ${fileFailure('compress', path, error).message}`);
        }
      }
    } while (again && !signal.aborted);
  };

  return {
    start() {
      again = true;
      job ??= work()
        .catch((error: unknown) => notice(`warning: ${fileFailure('compress', out, error).message}`))
        .finally(() => {
          job = undefined;
        });
    },
    settled: async () => job,
  };
}

/**
 * Compresses a file to a temporary file, renames the temporary file, and then removes the original, so that a
 * crash leaves at least one complete file.
 */
async function compress(path: string, signal: AbortSignal): Promise<void> {
  // Use a fixed name, so that the temporary file of a killed process is overwritten. The lock ensures that no
  // other tail writes the file.
  const temporary = `${path}.gz.tmp`;
  try {
    const { mode, atime, mtime } = await stat(path);
    await pipeline(
      createReadStream(path),
      createGzip(),
      createWriteStream(temporary, { mode: mode & 0o777 }),
      { signal },
    );
    const handle = await open(temporary, 'r+');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
    // Copy the times of the original, because finished files are sorted by their last change.
    await utimes(temporary, atime, mtime);
    await rename(temporary, `${path}.gz`);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
  syncFolder(dirname(path));
  await unlink(path);
}
