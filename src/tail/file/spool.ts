import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { quietly } from '../../base/calls.ts';
import { PRIVATE_FILE, readAt, temporaryIn } from '../../base/files.ts';
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
        opened ??= openNamelessFile();
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

/** A private temporary file that the system frees even if the process is killed. */
function openNamelessFile(): number {
  const path = temporaryIn(tmpdir());
  const fd = openSync(path, 'wx+', PRIVATE_FILE);
  // Windows cannot unlink an open file.
  quietly(() => unlinkSync(path));
  return fd;
}
