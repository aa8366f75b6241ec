import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { temporaryIn } from './files.ts';

/**
 * Creates a private temporary file and unlinks it at once, so that the system frees it even if the process is
 * killed.
 */
export async function openNamelessFile(): Promise<FileHandle> {
  const path = temporaryIn(tmpdir());
  const handle = await open(path, 'wx+', 0o600);
  // Ignore the error: Windows cannot unlink an open file.
  await unlink(path).catch(() => {});
  return handle;
}

export async function writeWhole(handle: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await handle.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
  }
}

/** Reads `length` bytes of a file, or fewer if the file ends first. */
export async function readWhole(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await handle.read(bytes, done, length - done, at + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}
