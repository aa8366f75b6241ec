import { Command as Commander, CommanderError, Option as CommanderOption } from 'commander';
import { type Failure, usageError } from '../../base/failure.ts';
import { didYouMean } from '../../output/suggest.ts';
import type { AnyCommand } from '../command.ts';
import { commonOptions, everyCommonOption, type Globals } from './common.ts';
import { type GivenFlags, longName, type Option, type Options } from './option.ts';

/** What a command line says: the words, the command's own flags and the common ones. */
export interface Parsed {
  readonly args: readonly string[];
  readonly given: GivenFlags<Options>;
  readonly globals: Globals;
  /** Long names of the flags that stand on the line, for settings that know where a value comes from. */
  readonly stated: ReadonlySet<string>;
}

/** Reads the words behind a command's name. Throws usage failures that say what would have been right. */
export function parseWords(command: AnyCommand, words: readonly string[]): Parsed {
  const common = commonOptions(command.common);
  const program = commanderFor(command, { ...common, ...command.options });
  try {
    program.parse([...words], { from: 'user' });
  } catch (error) {
    throw error instanceof CommanderError
      ? inOurWords(error, command, { ...common, ...command.options })
      : error;
  }
  const needed = command.args.filter(({ optional }) => !optional);
  const missing = needed[program.args.length];
  if (missing) {
    throw usageError(
      `"trdr ${command.path}" requires a ${missing.name.toUpperCase()}`,
      `see trdr ${command.path} --help`,
    );
  }
  const stated = new Set<string>();
  const read = (options: Options): Record<string, unknown> => {
    const values: Record<string, unknown> = {};
    for (const [key, option] of Object.entries(options)) {
      const name = longName(option);
      if (program.getOptionValueSource(name) === 'cli') stated.add(longName(option));
      values[key] = valueGiven(option, program.getOptionValue(name));
    }
    return values;
  };
  return {
    args: program.args,
    given: read(command.options) as GivenFlags<Options>,
    // Flags that this command lacks keep their defaults: commander knows nothing of them.
    globals: read(everyCommonOption) as unknown as Globals,
    stated,
  };
}

/**
 * A flag as commander takes it, under its own long name: by its own rules `--wait` and `--no-wait` would
 * be one value, and here they are two.
 */
function asCommander(option: Option<unknown>): CommanderOption {
  const made = new CommanderOption(option.value ? `${option.flags} <${option.value.name}>` : option.flags);
  made.negate = false;
  made.attributeName = () => longName(option);
  return made;
}

function commanderFor(command: AnyCommand, options: Options): Commander {
  const program = new Commander(`trdr ${command.path}`)
    .helpOption(false)
    .helpCommand(false)
    .exitOverride()
    .showSuggestionAfterError(false)
    .configureOutput({ writeOut() {}, writeErr() {} });
  for (const option of Object.values(options)) {
    const made = asCommander(option);
    if (option.repeatable) made.argParser((text: string, all: readonly string[] = []) => [...all, text]);
    program.addOption(made);
  }
  for (const { name, variadic } of command.args) {
    // Whether there are enough is counted below: a word that may be left out can stand before one that may not.
    program.argument(variadic ? `[${name}...]` : `[${name}]`);
  }
  return program.allowExcessArguments(command.args.at(-1)?.variadic === true);
}

/** Turns the text of a flag into its value, and says which flag a bad one belongs to. */
function valueGiven(option: Option<unknown>, raw: unknown): unknown {
  const kind = option.value;
  if (raw === undefined || raw === kind?.absent) return option.fallback;
  if (!kind) return raw;
  const one = (text: unknown) => {
    const value = kind.read(String(text));
    if (value !== undefined) return value;
    throw usageError(`invalid ${kind.noun} "${text}" for --${longName(option)}`, kind.hint);
  };
  return Array.isArray(raw) ? raw.map(one) : one(raw);
}

function inOurWords(error: CommanderError, command: AnyCommand, options: Options): Failure {
  const said = error.message.replace(/^error: /, '');
  // Without what stands behind an equals sign: it may be a key.
  const quoted = /'([^'=]+)/.exec(said)?.[1] ?? '';
  const help = `see trdr ${command.path} --help`;
  switch (error.code) {
    case 'commander.unknownOption': {
      if (Object.values(options).some((option) => `--${longName(option)}` === quoted)) {
        return usageError(`${quoted} takes no value`, help);
      }
      const near = didYouMean(
        quoted,
        Object.values(options).map((option) => `--${longName(option)}`),
      );
      return usageError(`unknown flag ${quoted} for "trdr ${command.path}"`, near || help);
    }
    case 'commander.optionMissingArgument':
      return usageError(`${quoted.replace(/^-\w, /, '').replace(/ <.*/, '')} requires a value`, help);
    case 'commander.excessArguments':
      return usageError(
        command.args.length === 0
          ? `"trdr ${command.path}" takes no arguments`
          : `too many arguments for "trdr ${command.path}"`,
        command.excess ?? help,
      );
    default:
      return usageError(said, help);
  }
}
