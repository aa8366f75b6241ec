import { resolve } from 'node:path';
import { quietly } from '../../base/calls.ts';
import { readBounded } from '../../base/files.ts';
import { sha256 } from '../../base/sha256.ts';
import { every } from '../../tail/every.ts';
import type { Io } from '../io.ts';

const LOOK_MS = 10_000;
const LARGEST = 64 * 1024 * 1024;

/**
 * Says when somebody edits the list that a run follows, because the run continues with what it has
 * read. Returns a function that ends this.
 */
export function watchList(
  {
    io,
    notice,
  }: { readonly io: Pick<Io, 'clock' | 'cwd'>; readonly notice: (line: string) => void },
  list: string | undefined,
): () => Promise<void> {
  if (list === undefined || list === '-') return async () => {};
  const path = resolve(io.cwd, list);
  let last = digestOf(path);
  return every(
    io.clock,
    () => LOOK_MS,
    () => {
      const now = digestOf(path);
      if (now === undefined || now === last) return;
      last = now;
      notice(
        `${list} was edited: this run follows the list as it began; start it again to follow the new one`,
      );
    },
  );
}

/** What a list contains; undefined while it cannot be read, as while an editor replaces it. */
function digestOf(path: string): string | undefined {
  const text = quietly(() => readBounded(path, LARGEST));
  return text === undefined ? undefined : sha256(text);
}
