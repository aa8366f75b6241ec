import { type BigIntStats, fstatSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { quietly } from '../../base/calls.ts';
import { usageError } from '../../base/failure.ts';
import { realPath } from '../../base/files.ts';
import type { Io } from '../io.ts';
import type { Parsed } from './parsed.ts';

/**
 * Rejects a file with two roles before anything is paid for: a run would replace its input, or one
 * output by another.
 */
export function checkFiles(
  named: Parsed['files'],
  out: string | undefined,
  { stdin, stdout }: Pick<Io, 'stdin' | 'stdout'>,
): void {
  const files = named
    .filter(({ path }) => path !== '-')
    .flatMap(({ role, path, writes }) => [
      { role, names: namesOf(path), isRead: writes === undefined },
      // The files that trdr creates beside the file, or beside the target of its symbolic link.
      ...Object.entries(writes ?? {}).map(([what, ending]) => ({
        role: `the ${what} of ${role}`,
        names: [path, realPath(path)].flatMap((name) => namesOf(name + ending)),
        isRead: false,
      })),
    ]);
  const add = (role: string, fd: number | undefined, isRead: boolean) => {
    if (fd !== undefined)
      files.push({ role, names: inodeOf(() => fstatSync(fd, { bigint: true })) ?? [], isRead });
  };
  if (named.some(({ path }) => path === '-')) add('stdin', stdin.fd, true);
  if (out === undefined) add('stdout', stdout.fd, false);
  for (const [index, one] of files.entries()) {
    const other = files
      .slice(index + 1)
      .find(
        ({ isRead, names }) =>
          !(isRead && one.isRead) && names.some((name) => one.names.includes(name)),
      );
    if (other)
      throw usageError(
        `${one.role} and ${other.role} are the same file`,
        'use a different file for one of them',
      );
  }
}

/**
 * Its inode, and its paths with and without the last symbolic link: a lock is a dangling link.
 * Pipes and devices have none.
 */
function namesOf(path: string): string[] {
  const inode = inodeOf(() => statSync(path, { bigint: true, throwIfNoEntry: false }));
  if (inode?.length === 0) return [];
  return [...(inode ?? []), realPath(path), join(realPath(dirname(path)), basename(path))];
}

function inodeOf(stat: () => BigIntStats | undefined): string[] | undefined {
  // If it cannot be looked up, opening it reports the problem.
  const stats = quietly(stat);
  return stats && (stats.isFile() ? [`${stats.dev}:${stats.ino}`] : []);
}
