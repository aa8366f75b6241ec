import { resolve } from 'node:path';
import type { AnyCommand } from '../command.ts';
import { everyCommonOption, type Globals } from './common.ts';
import { type GivenFlags, longName, notReplaced, type Options } from './option.ts';
import type { Parsed } from './parse.ts';

/** Names stay unchanged in the folder of the process, so that messages show them as the user wrote them. */
export function placeFiles(command: AnyCommand, { args, given, globals }: Parsed, folder: string): Parsed {
  const place = (name: string) => {
    const placed = resolve(folder, name);
    return name === '-' || resolve(name) === placed ? name : placed;
  };
  const placeValue = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(placeValue);
    return typeof value === 'string' ? place(value) : value;
  };
  const placeAll = (options: Options, values: object) =>
    Object.fromEntries(
      Object.entries(values).map(([key, value]: [string, unknown]) => [
        key,
        options[key]?.value?.complete === 'file' ? placeValue(value) : value,
      ]),
    );
  return {
    args: args.map((word, at) => (argumentAt(command, at)?.complete === 'file' ? place(word) : word)),
    given: placeAll(command.options, given) as GivenFlags<Options>,
    globals: placeAll(everyCommonOption, globals) as unknown as Globals,
  };
}

/** A file that a command line names. The path `-` stands for stdin. */
export type NamedFile = ReturnType<typeof namedFiles>[number];

export function namedFiles(command: AnyCommand, { args, given, globals }: Parsed) {
  const { options } = command;
  const flagged = (all: Options, values: object) =>
    Object.entries(values).flatMap(([key, value]: [string, unknown]) => {
      const option = all[key];
      if (option?.value?.complete !== 'file') return [];
      const { writes } = option.value;
      // For a file that is written, `-` is an output stream.
      return [value]
        .flat()
        .filter((path): path is string => typeof path === 'string' && (path !== '-' || writes === undefined))
        .map((path) => ({ role: `--${longName(option)}`, path, writes }));
    });
  return [
    ...args.flatMap((path, at) => {
      const { name = '', complete } = argumentAt(command, at) ?? {};
      return path === '-' || complete === 'file' ? [{ role: name, path, writes: undefined }] : [];
    }),
    ...flagged(notReplaced(everyCommonOption, options), globals),
    ...flagged(options, given),
  ];
}

/** The description of the word at a place; a variadic argument describes all words from its place on. */
const argumentAt = ({ args }: AnyCommand, at: number) => {
  const last = args.at(-1);
  return args[at] ?? (last?.variadic ? last : undefined);
};
