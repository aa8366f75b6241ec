import { Failure, usageError } from '../../base/failure.ts';
import { checkKeyFormat } from '../../state/config/key-format.ts';
import type { Io } from '../io.ts';
import { askLine, isAttended } from '../output/prompt.ts';
import { readAll } from './stdin.ts';

/** The maximum length of the input in bytes. Longer input cannot be a key. */
const LONGEST = 4096;

/** Reads the API key from a prompt with hidden input, or from stdin until its end. */
export async function readKey(io: Io, fromStdin: boolean, signal: AbortSignal): Promise<string> {
  if (isAttended(io)) {
    const typed = await askLine(io, 'API key (input hidden):', { hidden: true, signal });
    if (typed !== undefined) return checkKeyFormat(typed, 'the key');
    throw new Failure('auth', 'no key given; nothing was saved', { code: 'NO_KEY' });
  }
  if (!fromStdin) {
    throw usageError(
      'not running interactively: cannot prompt for the key',
      'pipe the key in: trdr auth login --with-key < key.txt',
    );
  }
  return checkKeyFormat(await readAll(io, LONGEST, signal), 'the key on stdin');
}
