import { statSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { beside, discard, inWords, syncFolder } from './files.ts';

const PIECE = 64 * 1024;

/** Writes a file whole: it appears with all its text, or the one that stood there stays. */
export async function deliver(target: string, text: AsyncIterable<string> | Iterable<string>): Promise<void> {
  const temporary = beside(target);
  // A user's own file: it keeps the mode it has, and a new one gets what the umask allows.
  const mode = statSync(target, { throwIfNoEntry: false })?.mode;
  try {
    const file = await open(temporary, 'wx');
    try {
      if (mode !== undefined) await file.chmod(mode & 0o777);
      let piece = '';
      const flush = async () => {
        await file.appendFile(piece);
        piece = '';
      };
      for await (const part of text) {
        piece += part;
        if (piece.length >= PIECE) await flush();
      }
      await flush();
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    discard(temporary);
    throw inWords('write', target, error, 'make room, then run it again');
  }
  syncFolder(dirname(target));
}
