import { type BigIntStats, fstatSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { usageError } from '../../base/failure.ts';
import { realPath } from '../../base/files.ts';
import type { AnyCommand } from '../command.ts';
import type { Io } from '../io.ts';
import { everyCommonOption, type Globals } from './common.ts';
import { type GivenFlags, longName, notReplaced, type Options } from './option.ts';
import type { Parsed } from './parse.ts';
import type { Value } from './values.ts';

/**
 * Resolves the file names of a command line relative to `folder`, which is the folder of the process except in
 * tests. In the folder of the process, names stay unchanged, so that messages show them as the user wrote them.
 */
export function placeFiles(command: AnyCommand, { args, given, globals }: Parsed, folder: string): Parsed {
  const place = (name: string) => {
    const placed = resolve(folder, name);
    return name === '-' || resolve(name) === placed ? name : placed;
  };
  const placeAll = (options: Options, values: object) =>
    Object.fromEntries(
      Object.entries(values).map(([key, value]: [string, unknown]) => [
        key,
        typeof value === 'string' && options[key]?.value?.complete === 'file' ? place(value) : value,
      ]),
    );
  return {
    args: args.map((word, at) => (command.args[at]?.complete === 'file' ? place(word) : word)),
    given: placeAll(command.options, given) as GivenFlags<Options>,
    globals: placeAll(everyCommonOption, globals) as unknown as Globals,
  };
}

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
export function checkFiles(command: AnyCommand, parsed: Parsed, io: Pick<Io, 'stdin' | 'stdout'>): void {
  const files = filesOf(command, parsed, io).map((file) => ({ ...file, names: namesOf(file.at) }));
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

function filesOf(
  { options, args: described }: AnyCommand,
  { args, given, globals }: Parsed,
  { stdin, stdout }: Pick<Io, 'stdin' | 'stdout'>,
): RunFile[] {
  const flagged = (all: Options, values: object) =>
    Object.entries(values).flatMap(([key, path]: [string, unknown]) => {
      const option = all[key];
      return option?.value?.complete === 'file' && typeof path === 'string'
        ? [{ role: `--${longName(option)}`, path, writes: option.value.writes }]
        : [];
    });
  const named = [
    ...args.flatMap((path, at) =>
      described[at]?.complete === 'file' ? [{ role: described[at].name, path, writes: undefined }] : [],
    ),
    ...flagged(notReplaced(everyCommonOption, options), globals),
    ...flagged(options, given),
  ];
  const readsStdin = args.includes('-') || named.some(({ path }) => path === '-');
  return [
    ...named.filter(({ path }) => path !== '-').flatMap(filesFor),
    ...(readsStdin && stdin.fd !== undefined ? [{ role: 'stdin', at: stdin.fd, isRead: true }] : []),
    ...(globals.out === undefined && stdout.fd !== undefined ? [{ role: 'stdout', at: stdout.fd }] : []),
  ];
}

/** A named file, and the files that trdr creates beside it or beside the target of its symbolic link. */
const filesFor = ({
  role,
  path,
  writes,
}: {
  readonly role: string;
  readonly path: string;
  readonly writes: Value<unknown>['writes'] | undefined;
}): RunFile[] => [
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
  try {
    const found = stat();
    return found && (found.isFile() ? [`${found.dev}:${found.ino}`] : []);
  } catch {
    // Opening the file reports the problem.
    return undefined;
  }
}
