import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { temporaryIn } from '../../base/files.ts';
import type { DiskWait } from '../../output/disk-wait.ts';
import type { Spool } from '../../tail/ports.ts';

/** Stores the rows of a long walk in a temporary file, or waits while its disk is full. */
export function openSpool(diskWait: Pick<DiskWait, 'retry'>): Spool {
  let opened: Promise<FileHandle> | undefined;
  let end = 0;
  return {
    async put(text) {
      opened ??= diskWait.retry(tmpdir(), openNamelessFile);
      const handle = await opened;
      const bytes = Buffer.from(text);
      const from = end;
      end += bytes.length;
      await diskWait.retry(tmpdir(), () => writeWhole(handle, bytes, from));
      return async () => {
        const back = await readWhole(handle, from, bytes.length);
        if (back.length < bytes.length) throw new Error('the temporary file was truncated');
        // The texts are read back in reverse order, so the next text can overwrite the file from this position on.
        end = from;
        return back.toString('utf8');
      };
    },
    async close() {
      await (await opened)?.close();
    },
  };
}

/**
 * Creates a private temporary file and unlinks it at once, so that the system frees it even if the process is
 * killed.
 */
async function openNamelessFile(): Promise<FileHandle> {
  const path = temporaryIn(tmpdir());
  const handle = await open(path, 'wx+', 0o600);
  // Ignore the error: Windows cannot unlink an open file.
  await unlink(path).catch(() => {});
  return handle;
}

async function writeWhole(handle: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await handle.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
  }
}

/** Reads `length` bytes of a file, or fewer if the file ends first. */
async function readWhole(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await handle.read(bytes, done, length - done, at + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}
