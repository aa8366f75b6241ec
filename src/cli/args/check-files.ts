import { type BigIntStats, fstatSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { quietly } from '../../base/calls.ts';
import { usageError } from '../../base/failure.ts';
import { realPath } from '../../base/files.ts';
import type { Io } from '../io.ts';
import type { NamedFile } from './place-files.ts';

/** A file of a run: its role in messages, and its descriptor or its possible paths. */
interface RunFile {
  readonly role: string;
  readonly at: number | readonly string[];
  readonly isRead?: boolean;
}

/**
 * Rejects a command line on which one file has two roles, before anything is opened or paid for: a run would replace
 * its own input, or one of its files would overwrite another. Two inputs may be the same file.
 */
export function checkFiles(
  named: readonly NamedFile[],
  out: string | undefined,
  { stdin, stdout }: Pick<Io, 'stdin' | 'stdout'>,
): void {
  const readsStdin = named.some(({ path }) => path === '-');
  const all: RunFile[] = [
    ...named.filter(({ path }) => path !== '-').flatMap(filesFor),
    ...(readsStdin && stdin.fd !== undefined ? [{ role: 'stdin', at: stdin.fd, isRead: true }] : []),
    ...(out === undefined && stdout.fd !== undefined ? [{ role: 'stdout', at: stdout.fd }] : []),
  ];
  const files = all.map((file) => ({ ...file, names: namesOf(file.at) }));
  for (const [index, one] of files.entries()) {
    const other = files
      .slice(index + 1)
      .find(({ isRead, names }) => !(isRead && one.isRead) && names.some((name) => one.names.includes(name)));
    if (other)
      throw usageError(
        `${one.role} and ${other.role} are the same file`,
        'use a different file for one of them',
      );
  }
}

/** A named file, and the files that trdr creates beside it or beside the target of its symbolic link. */
const filesFor = ({ role, path, writes }: NamedFile): RunFile[] => [
  { role, at: [path], isRead: writes === undefined },
  ...Object.entries(writes ?? {}).map(([what, ending]) => ({
    role: `the ${what} of ${role}`,
    at: [path + ending, realPath(path) + ending],
  })),
];

/**
 * What identifies a file: its inode, and its path with and without its last symbolic link, because a lock is a
 * dangling link. Pipes and devices have no names here, because they may have several roles.
 */
function namesOf(at: RunFile['at']): readonly string[] {
  if (typeof at === 'number') return inodeOf(() => fstatSync(at, { bigint: true })) ?? [];
  return at.flatMap((path) => {
    const inode = inodeOf(() => statSync(path, { bigint: true, throwIfNoEntry: false }));
    if (inode?.length === 0) return [];
    return [...(inode ?? []), realPath(path), join(realPath(dirname(path)), basename(path))];
  });
}

/** The inode of a regular file; empty for anything else, and undefined if nothing is there. */
function inodeOf(stat: () => BigIntStats | undefined): readonly string[] | undefined {
  // If it cannot be looked up, opening it reports the problem.
  const found = quietly(stat);
  return found && (found.isFile() ? [`${found.dev}:${found.ino}`] : []);
}
