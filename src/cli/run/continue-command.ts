import { join, parse, resolve } from 'node:path';
import { Failure, type FailureKind, hintOf, withHint } from '../../base/failure.ts';
import { statsOf } from '../../base/files.ts';
import { commandWith } from '../command-line.ts';
import type { Io } from '../io.ts';

/** Writes to another file, because this run has written its paid rows to the original file. */
export const continueList = (
  io: Pick<Io, 'argv' | 'cwd'>,
  out: string | undefined,
  changes: Readonly<Record<string, string | undefined>>,
): string =>
  commandWith(io.argv, {
    ...changes,
    ...(out !== undefined && { '--out': nextPart(io.cwd, out) }),
  });

/**
 * `rows-part2.csv` after `rows.csv`, or the next number that is free. Pipes and devices keep their
 * name.
 */
function nextPart(cwd: string, out: string): string {
  const there = (file: string) => statsOf(resolve(cwd, file));
  if (out === '-' || there(out)?.isFile() === false) return out;
  const { dir, name, ext } = parse(out);
  const [, base = name, part = '1'] = /^(.+)-part(\d{1,4})$/.exec(name) ?? [];
  for (let number = Number(part) + 1; ; number++) {
    const file = join(dir, `${base}-part${number}${ext}`);
    if (there(file) === undefined) return file;
  }
}

const passing: readonly FailureKind[] = [
  'auth',
  'forbidden',
  'quota',
  'limit',
  'rate',
  'service',
  'network',
];

/** Adds the command that continues a list whose earlier pages were paid for. */
export function hintToContinue(error: unknown, command: () => string): unknown {
  if (!(error instanceof Failure)) return error;
  const { kind, code } = error;
  if (!passing.includes(kind) && code !== 'BAD_ANSWER') return error;
  const hint = hintOf(error);
  const before = hint === undefined ? '' : `${hint}; ${kind === 'limit' ? '' : 'then '}`;
  return withHint(error, `${before}continue with: ${command()}`);
}
