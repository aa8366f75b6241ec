import { usageError } from '../../base/failure.ts';
import { group } from '../../base/units.ts';
import type { Io } from '../io.ts';
import { inputBytes } from './input.ts';

/** Reads stdin to its end as text. Throws if there are more than `most` bytes. */
export async function readAll(
  { stdin }: Pick<Io, 'stdin'>,
  most: number,
  signal: AbortSignal,
): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of inputBytes('-', { stdin, signal })) {
    parts.push(part);
    length += part.length;
    if (length > most)
      throw usageError(
        `the input on stdin is larger than ${group(most)} bytes`,
        'check which program writes to stdin',
      );
  }
  return Buffer.concat(parts).toString('utf8');
}
