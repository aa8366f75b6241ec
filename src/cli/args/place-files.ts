import { resolve } from 'node:path';
import type { AnyCommand } from '../command.ts';
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

/** A file that a command line names: its flag or argument, and what the run writes to it. */
export interface NamedFile {
  readonly role: string;
  readonly path: string;
  readonly writes: Value<unknown>['writes'] | undefined;
}

/** The files that a command line names. The path `-` stands for stdin. */
export function namedFiles(
  { options, args: described }: AnyCommand,
  { args, given, globals }: Parsed,
): NamedFile[] {
  const flagged = (all: Options, values: object) =>
    Object.entries(values).flatMap(([key, path]: [string, unknown]) => {
      const option = all[key];
      if (option?.value?.complete !== 'file' || typeof path !== 'string') return [];
      // For a file that is written, `-` is an output stream.
      return path !== '-' || option.value.writes === undefined
        ? [{ role: `--${longName(option)}`, path, writes: option.value.writes }]
        : [];
    });
  return [
    ...args.flatMap((path, at) => {
      const { name = '', complete } = described[at] ?? {};
      return path === '-' || complete === 'file' ? [{ role: name, path, writes: undefined }] : [];
    }),
    ...flagged(notReplaced(everyCommonOption, options), globals),
    ...flagged(options, given),
  ];
}
