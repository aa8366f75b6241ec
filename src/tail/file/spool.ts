import { closeSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { readAt } from '../../base/files.ts';
import { openUnnamed } from '../../base/scratch-file.ts';
import type { DiskWait } from '../../output/disk-wait.ts';
import type { Spool } from '../ports.ts';

/** Stores the rows of a long walk in a temporary file, or waits while its disk is full. */
export function openSpool(diskWait: Pick<DiskWait, 'retry'>): Spool {
  let opened: number | undefined;
  let end = 0;
  return {
    async put(text) {
      const bytes = Buffer.from(text);
      const from = end;
      end += bytes.length;
      const fd = await diskWait.retry(tmpdir(), () => {
        opened ??= openUnnamed(tmpdir());
        for (let done = 0; done < bytes.length; )
          done += writeSync(opened, bytes, done, bytes.length - done, from + done);
        return opened;
      });
      return async () => {
        const back = readAt(fd, from, bytes.length);
        if (back.length < bytes.length) throw new Error('the temporary file was truncated');
        // The texts are read back in reverse order, so the next text can overwrite the file from
        // this position on.
        end = from;
        return back.toString('utf8');
      };
    },
    async close() {
      if (opened !== undefined) closeSync(opened);
    },
  };
}
