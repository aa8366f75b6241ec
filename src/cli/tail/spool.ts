import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { openNamelessFile, readWhole, writeWhole } from '../../base/nameless-file.ts';
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
