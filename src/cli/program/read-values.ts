import { resolve } from 'node:path';
import { everyCommonOption, type Globals } from '../args/common.ts';
import type { Flag, GivenFlags, Options } from '../args/option.ts';
import type { NamedFile, Parsed } from '../args/parsed.ts';
import type { AnyCommand } from '../command.ts';

/** The values that commander read, by the names of its options. */
export type OptionValues = Readonly<Record<string, unknown>>;

/**
 * Gives the words and values of a line to the names that a command has for them. Relative names of
 * files are those in `folder`; in the folder of the process, they stay as the user wrote them.
 */
export function readFlags(
  command: AnyCommand,
  words: readonly string[],
  values: OptionValues,
  folder: string,
): Parsed {
  const files: NamedFile[] = [];
  const place = (name: string) => {
    const placed = resolve(folder, name);
    return name === '-' || placed === resolve(name) ? name : placed;
  };
  const placeFlag = ({ kind, long = '' }: Flag<unknown>, value: unknown): unknown => {
    if (kind?.complete !== 'file' || typeof value !== 'string') return value;
    const path = place(value);
    // For a file that is written, `-` is an output stream.
    if (path !== '-' || !kind.writes) files.push({ role: long, path, writes: kind.writes });
    return path;
  };
  const read = (options: Options, valueFor: (key: string, flag: Flag<unknown>) => unknown) =>
    Object.fromEntries(
      Object.entries(options).map(([key, flag]) => {
        const value = valueFor(key, flag);
        const placed = Array.isArray(value)
          ? value.map((item) => placeFlag(flag, item))
          : placeFlag(flag, value);
        return [key, placed];
      }),
    );
  const args = words.map((word, at) => {
    const { name = '', complete } = command.args[at] ?? command.args.at(-1) ?? {};
    const path = complete === 'file' ? place(word) : word;
    if (path === '-' || complete === 'file') files.push({ role: name, path });
    return path;
  });
  const flags = read(command.options, (_, flag) => valueIn(values, flag));
  const globals = read(everyCommonOption, (key, flag) =>
    Object.hasOwn(command.options, key) ? sharedValue(flags[key], flag) : valueIn(values, flag),
  );
  return {
    args,
    flags: flags as GivenFlags<Options>,
    globals: globals as unknown as Globals,
    files: distinct(files),
  };
}

/** Commander keeps the last of `--wait D` and `--no-wait`, under one name. */
function valueIn(values: OptionValues, flag: Flag<unknown>): unknown {
  const value = values[flag.attributeName()];
  if (flag.negate) return value === false;
  const isAbsent = value === undefined || value === false || value === flag.kind?.absent;
  return isAbsent ? flag.defaultValue : value;
}

/**
 * A value that only the command's own version of a common flag accepts does not apply to the common
 * flag.
 */
const sharedValue = (value: unknown, { kind, defaultValue }: Flag<unknown>): unknown =>
  kind?.choices && !kind.choices.includes(String(value)) ? defaultValue : value;

/** A common flag of which the command has its own version names its file once. */
const distinct = (files: readonly NamedFile[]): NamedFile[] =>
  files.filter(
    ({ role, path }, at) =>
      files.findIndex((file) => file.role === role && file.path === path) === at,
  );
