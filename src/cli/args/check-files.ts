import { type BigIntStats, fstatSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { quietly } from '../../base/calls.ts';
import { usageError } from '../../base/failure.ts';
import { realPath } from '../../base/files.ts';
import type { Io } from '../io.ts';
import type { NamedFile } from './place-files.ts';

interface RunFile {
  readonly role: string;
  readonly at: number | readonly string[];
  readonly isRead?: boolean;
}

/** Rejects a file with two roles before anything is paid for: a run would replace its input, or one output by another. */
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

/** Its inode, and its paths with and without the last symbolic link: a lock is a dangling link. Pipes and devices have none. */
function namesOf(at: RunFile['at']): readonly string[] {
  if (typeof at === 'number') return inodeOf(() => fstatSync(at, { bigint: true })) ?? [];
  return at.flatMap((path) => {
    const inode = inodeOf(() => statSync(path, { bigint: true, throwIfNoEntry: false }));
    if (inode?.length === 0) return [];
    return [...(inode ?? []), realPath(path), join(realPath(dirname(path)), basename(path))];
  });
}

function inodeOf(stat: () => BigIntStats | undefined): readonly string[] | undefined {
  // If it cannot be looked up, opening it reports the problem.
  const found = quietly(stat);
  return found && (found.isFile() ? [`${found.dev}:${found.ino}`] : []);
}
