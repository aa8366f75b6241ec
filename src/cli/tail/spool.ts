import type { FileHandle } from 'node:fs/promises';
import { openNamelessFile, readWhole, writeWhole } from '../../base/nameless-file.ts';
import type { Spool } from '../../tail/ports.ts';

/** Stores the rows of a long walk in a temporary file. */
export function openSpool(): Spool {
  let opened: Promise<FileHandle> | undefined;
  let end = 0;
  return {
    async put(text) {
      opened ??= openNamelessFile();
      const handle = await opened;
      const bytes = Buffer.from(text);
      const from = end;
      end += bytes.length;
      await writeWhole(handle, bytes, from);
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
