import { usageError } from '../../base/failure.ts';
import { group } from '../../base/units.ts';
import type { Io } from '../io.ts';

/** Reads stdin to its end as text. Throws if there are more than `most` bytes. */
export async function readAll(
  { stdin }: Pick<Io, 'stdin'>,
  most: number,
  signal: AbortSignal,
): Promise<string> {
  const stop = () => stdin.destroy();
  signal.addEventListener('abort', stop, { once: true });
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of stdin) {
      const part = Buffer.from(chunk);
      parts.push(part);
      length += part.length;
      if (length > most)
        throw usageError(
          `the input on stdin is larger than ${group(most)} bytes`,
          'check which program writes to stdin',
        );
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
  signal.throwIfAborted();
  // Some editors and shells write a byte order mark.
  return Buffer.concat(parts)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
}
