import { createInterface } from 'node:readline/promises';
import type { Io } from './io.ts';

/** Asks a yes-or-no question on the terminal; undefined where nobody is there to answer. */
export async function ask(io: Io, question: string, signal: AbortSignal): Promise<boolean | undefined> {
  if (io.stdin.isTTY !== true || io.stderr.isTTY !== true) return undefined;
  const lines = createInterface({ input: io.stdin, output: io.stderr });
  try {
    return /^\s*y(es)?\s*$/i.test(await lines.question(`${question} [y/N] `, { signal }));
  } finally {
    lines.close();
  }
}
