import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Spool } from '../../tail/ports.ts';

let spools = 0;

/** Keeps the rows of a long walk in a file without a name: it is gone with the process, however that ends. */
export function openSpool(): Spool {
  let opened: Promise<FileHandle> | undefined;
  let end = 0;
  return {
    async put(text) {
      opened ??= nameless();
      const handle = await opened;
      const bytes = Buffer.from(text);
      const from = end;
      end += bytes.length;
      for (let done = 0; done < bytes.length; ) {
        done += (await handle.write(bytes, done, bytes.length - done, from + done)).bytesWritten;
      }
      return async () => {
        const back = Buffer.allocUnsafe(bytes.length);
        for (let done = 0; done < back.length; ) {
          const { bytesRead } = await handle.read(back, done, back.length - done, from + done);
          if (bytesRead === 0) throw new Error('a file for the time being was cut short');
          done += bytesRead;
        }
        // Read from the end: what stood behind is no longer needed.
        end = from;
        return back.toString('utf8');
      };
    },
    async close() {
      await (await opened)?.close();
    },
  };
}

async function nameless(): Promise<FileHandle> {
  const path = join(tmpdir(), `trdr-${process.pid}-${Date.now().toString(36)}${spools++}.tmp`);
  const handle = await open(path, 'wx+', 0o600);
  // Where an open file can't lose its name, it keeps it.
  await unlink(path).catch(() => {});
  return handle;
}
