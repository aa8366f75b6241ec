import type * as z from 'zod/mini';
import type { EndpointId } from '../contract/endpoints.ts';
import type { Common } from './args/common.ts';
import type { GivenFlags, Options } from './args/option.ts';
import type { ExitCode } from './exit.ts';
import type { Context } from './run/context.ts';
import type { SettingsUse } from './settings/settings.ts';

export interface Argument {
  readonly name: string;
  readonly help: string;
  readonly optional?: boolean;
  readonly variadic?: boolean;
  /** How to complete the argument; `path` means API paths. */
  readonly complete?: 'file' | 'profile' | 'handle' | 'command' | 'help' | 'path';
  readonly choices?: readonly string[];
  /** Choices that depend on the previous argument. */
  readonly choicesBy?: Readonly<Record<string, readonly string[]>>;
}

/** Command lines, each with a description of what it does. */
export type Examples = Readonly<Record<string, string>>;

/**
 * A command. `parse` has no side effects, so that a wrong command line fails before anything
 * happens.
 */
export interface Command<O extends Options, I> {
  readonly path: string;
  /** The help page in Markdown: the summary as its title, what there is to know, and examples. */
  readonly page: string;
  /** What the page names in double braces. */
  readonly inserts?: Readonly<Record<string, string>>;
  readonly args: readonly Argument[];
  readonly options: O;
  /**
   * The flags that `-h` shows of a command that has too many for a screen, the most used ones
   * first. By default, it shows all.
   */
  readonly mostUsed?: readonly (keyof O & string)[];
  readonly common: readonly Common[];
  /** Help lists their prices. Any command that pays may also call `me`, which is free. */
  readonly calls: readonly (EndpointId | 'ws')[];
  readonly record?: () => z.core.$ZodType;
  /**
   * Whether it prints records until it is stopped: it then rejects the format `json`, and `--out`
   * appends.
   */
  readonly stream?: boolean;
  /** The codes in a description are those beside 0, 2 and those of the common flags. */
  readonly exits: readonly ExitCode[];
  /**
   * Such a command rejects --sandbox, because the change would also affect runs without --sandbox.
   */
  readonly savesSettings?: boolean;
  /** How the command treats settings that cannot be read. By default, they are an error. */
  readonly settings?: SettingsUse;
  /** The arguments in the usage line, if commander cannot tell them from `args`. */
  readonly usage?: string;
  readonly excess?: string;
  readonly parse: (args: readonly string[], flags: GivenFlags<O>) => I;
  readonly run: (context: Context, input: I) => Promise<ExitCode | undefined>;
}

type Defaults<O extends Options, I> = Pick<
  Command<O, I>,
  'args' | 'options' | 'common' | 'calls' | 'exits' | 'parse'
>;

/** A command as its file describes it. By default, the input of `run` is the flags. */
interface Spec<O extends Options, I>
  extends Omit<Command<O, I>, keyof Defaults<O, I>>,
    Partial<Defaults<O, I>> {}

/** The codes with which a command can exit that has these common flags. */
const exitsOf: Readonly<Record<Common, readonly ExitCode[]>> = {
  output: [],
  service: [4, 5, 7, 9],
  money: [6, 11],
};

/** Type-checks a command and returns it with its exact types. */
export const command = <const O extends Options = Record<never, never>, I = GivenFlags<O>>({
  common = [],
  exits = [],
  ...spec
}: Spec<O, I>): Command<O, I> =>
  ({
    args: [],
    options: {},
    calls: [],
    parse: (_, flags) => flags,
    ...spec,
    common,
    exits: [0, 2, ...common.flatMap((group) => exitsOf[group]), ...exits].sort((a, b) => a - b),
  }) as Command<O, I>;

/** A command whose option and input types are not known, for the command tree, help and docs. */
export type AnyCommand = Omit<Command<Options, unknown>, 'parse' | 'run'> & {
  parse(args: readonly string[], flags: never): unknown;
  run(context: Context, input: never): Promise<ExitCode | undefined>;
};
