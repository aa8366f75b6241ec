import { Failure, usage } from '../contract/failure.ts';
import { checkKey } from '../state/key.ts';
import type { Io } from './io.ts';
import { askLine, isAttended } from './prompt.ts';
import { readAll } from './stdin.ts';

/** No key is longer; what goes on behind it is some other file. */
const LONGEST = 4096;

/** The key: typed unseen on a terminal, or read from stdin to its end. */
export async function readKey(io: Io, fromStdin: boolean, signal: AbortSignal): Promise<string> {
  if (isAttended(io)) {
    const typed = await askLine(io, 'API key (not shown): ', { hidden: true, signal });
    if (typed !== undefined) return checkKey(typed, 'what was typed');
    throw new Failure('auth', 'no key was given: nothing is kept', { code: 'NO_KEY' });
  }
  if (!fromStdin) {
    throw usage(
      'there is no terminal to ask for the key on',
      'pipe it in: trdr auth login --with-key < key.txt',
    );
  }
  return checkKey(await readAll(io, LONGEST, signal), 'what stands on stdin');
}
