import { Command as Commander, CommanderError, Option as CommanderOption } from 'commander';
import { type Failure, usageError } from '../../base/failure.ts';
import { didYouMean } from '../../output/suggest.ts';
import type { AnyCommand } from '../command.ts';
import { commonOptions, everyCommonOption, type Globals } from './common.ts';
import { type GivenFlags, longName, type Option, type Options, shortName } from './option.ts';

/** The parsed words after a command's name: arguments, the command's own flags, and common flags. */
export interface Parsed {
  readonly args: readonly string[];
  readonly given: GivenFlags<Options>;
  readonly globals: Globals;
}

export function parseWords(command: AnyCommand, given: readonly string[]): Parsed {
  const options = { ...commonOptions(command.common), ...command.options };
  const words = withoutAliases(options, given);
  rejectFlagAsValue(options, words);
  rejectContradiction(options, words);
  const program = new Commander().exitOverride().configureOutput({ writeErr() {} });
  // The long name is the key, so that a command's own version of a common flag replaces the common one.
  const known = new Map(Object.values(options).map((option) => [longName(option), toCommander(option)]));
  for (const each of known.values()) program.addOption(each);
  const { operands, unknown } = parsed(program, words);
  if (unknown[0] !== undefined) throw unknownFlag(unknown[0], command, options);
  checkCount(command, operands);
  const own = new Set(Object.values(command.options).map(longName));
  const read = (set: Options): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(set).map(([key, option]) => {
        const made = known.get(longName(option));
        // A common flag that this command does not accept has its default.
        if (!made) return [key, option.fallback];
        const isReplaced = set !== command.options && own.has(longName(option));
        return [key, readValue(option, made, program, isReplaced)];
      }),
    );
  return {
    args: operands,
    given: read(command.options) as GivenFlags<Options>,
    globals: read(everyCommonOption) as unknown as Globals,
  };
}

/** Other names of flags, accepted by the commands that have the flag. */
const aliases = new Map([['--author', '--user']]);

function withoutAliases(options: Options, words: readonly string[]): readonly string[] {
  const names = new Set(Object.values(options).map((option) => `--${longName(option)}`));
  const end = words.indexOf('--');
  return words.map((word, at) => {
    const [flag = ''] = word.split('=', 1);
    const name = end < 0 || at < end ? aliases.get(flag) : undefined;
    return name !== undefined && names.has(name) ? name + word.slice(flag.length) : word;
  });
}

function toCommander(option: Option<unknown>): CommanderOption {
  const { flags, value, repeatable } = option;
  const made = new CommanderOption(value ? `${flags} <${value.name}>` : flags);
  if (!repeatable) return made;
  // Values of a fixed set contain no commas, so `7d,30d` means two values.
  const split = (text: string) => (value?.choices ? text.split(',') : [text]);
  return made.argParser((text, all: readonly string[] = []) => [...all, ...split(text)]);
}

function parsed(program: Commander, words: readonly string[]) {
  try {
    return program.parseOptions([...words]);
  } catch (error) {
    // commander reports only one error here: the last word is a flag that needs a value.
    if (error instanceof CommanderError) throw requiresValue(words.at(-1) ?? '');
    throw error;
  }
}

/**
 * In commander, `--wait D` and `--no-wait` set the same value: the last one on the command line applies. A value that only
 * the command's own version of a common flag accepts does not apply to the common flag.
 */
function readValue(
  option: Option<unknown>,
  made: CommanderOption,
  program: Commander,
  isReplaced: boolean,
): unknown {
  const raw: unknown = program.getOptionValue(made.attributeName());
  if (made.negate) return raw === false;
  const kind = option.value;
  if (raw === undefined || raw === false || raw === kind?.absent) return option.fallback;
  if (!kind) return raw;
  const one = (text: unknown) => {
    const value = kind.read(String(text));
    if (value !== undefined) return value;
    if (isReplaced) return option.fallback;
    const near = didYouMean(String(text), kind.choices ?? []);
    throw usageError(`invalid ${kind.noun} "${text}" for --${longName(option)}`, near || kind.hint);
  };
  return Array.isArray(raw) ? raw.map(one) : one(raw);
}

/** With an empty variable, `--symbol $UNSET --dry-run` would otherwise take --dry-run as the symbol, and pay. */
function rejectFlagAsValue(options: Options, words: readonly string[]): void {
  const all = Object.values(options);
  const named = (word: string) =>
    all.find((option) => word === `--${longName(option)}` || word === `-${shortName(option)}`);
  for (const [at, word] of words.entries()) {
    if (word === '--') return;
    const next = words[at + 1];
    const option = named(word);
    if (next === undefined || !option?.value || !named(next.split('=')[0] ?? '')) continue;
    throw requiresValue(
      word,
      `"${next.split('=')[0]}" is a flag; if it is meant as the value, write --${longName(option)}=${next}`,
    );
  }
}

/** If trdr ignored one of two contradicting flags, the run could cost more than the user expects. */
function rejectContradiction(options: Options, words: readonly string[]): void {
  const end = words.indexOf('--');
  const given = new Set(words.slice(0, end < 0 ? undefined : end).map((word) => word.split('=')[0]));
  for (const option of Object.values(options)) {
    const name = `--${longName(option)}`;
    const other = given.has(name) ? option.excludes?.find((each) => given.has(each)) : undefined;
    if (other !== undefined) throw usageError(`${name} and ${other} cannot be combined`, 'use one of them');
  }
}

const requiresValue = (flag: string, hint = 'add the value after the flag'): Failure =>
  usageError(`${flag} requires a value`, hint);

function checkCount(command: AnyCommand, words: readonly string[]): void {
  const { args, path } = command;
  // An optional argument can precede a required one: `api [METHOD] PATH`.
  const missing = args.filter(({ optional }) => !optional)[words.length];
  if (missing) {
    throw usageError(
      `"trdr ${path}" requires the argument ${missing.name.toUpperCase()}`,
      `see trdr ${path} --help`,
    );
  }
  if (words.length <= args.length || args.at(-1)?.variadic) return;
  throw usageError(
    args.length === 0 ? `"trdr ${path}" takes no arguments` : `too many arguments for "trdr ${path}"`,
    command.excess ?? `see trdr ${path} --help`,
  );
}

function unknownFlag(word: string, { path }: AnyCommand, options: Options): Failure {
  // Do not print the text after an equals sign, because it may be a key.
  const [flag = ''] = word.split('=');
  const names = Object.values(options).map((option) => `--${longName(option)}`);
  const help = `see trdr ${path} --help`;
  if (names.includes(flag)) return usageError(`${flag} takes no value`, help);
  return usageError(`unknown flag ${flag} for "trdr ${path}"`, didYouMean(flag, names) || help);
}
