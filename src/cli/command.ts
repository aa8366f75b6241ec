import type * as z from 'zod/mini';
import type { EndpointId } from '../contract/endpoints.ts';
import type { Common } from './args/common.ts';
import type { GivenFlags, Options } from './args/option.ts';
import type { Context } from './context.ts';
import type { ExitCode } from './exit.ts';
import type { SettingsUse } from './settings/settings.ts';

/** A word after the command: `SUBJECT...`. */
export interface Argument {
  readonly name: string;
  readonly help: string;
  readonly optional?: boolean;
  readonly variadic?: boolean;
  /** What completes it; `path` is a path of the API. */
  readonly complete?: 'file' | 'profile' | 'handle' | 'command' | 'help' | 'path';
  readonly choices?: readonly string[];
  /** Choices that depend on the argument before. */
  readonly choicesBy?: Readonly<Record<string, readonly string[]>>;
}

/**
 * A command as a value. `parse` turns words into what the command means, without touching anything;
 * `run` does it. Each half is tested alone.
 */
export interface Command<O extends Options, I> {
  /** The words that call it: `thesis tail`. */
  readonly path: string;
  readonly summary: string;
  /** Paragraphs of the reference page. */
  readonly about: readonly string[];
  readonly args: readonly Argument[];
  readonly options: O;
  readonly common: readonly Common[];
  readonly examples: readonly { readonly run: string; readonly does: string }[];
  /** The endpoints it may call; their prices are printed with its help. */
  readonly calls: readonly (EndpointId | 'ws')[];
  /** The schema of one record that it prints. */
  readonly record?: () => z.core.$ZodType;
  /** A stream has no end of its own: it refuses `json`, and `--out` appends. */
  readonly stream?: boolean;
  readonly exits: readonly ExitCode[];
  /** How it takes settings that cannot be read. */
  readonly settings?: SettingsUse;
  /** The hint for a command line with too many arguments. */
  readonly excess?: string;
  readonly parse: (args: readonly string[], given: GivenFlags<O>) => I;
  readonly run: (context: Context, input: I) => Promise<ExitCode | undefined>;
}

/** Keeps a command's own types while checking its form. */
export const command = <const O extends Options, I>(spec: Command<O, I>): Command<O, I> => spec;

/** A command whose types are not known: what the tree, help and docs see. */
export type AnyCommand = Omit<Command<Options, unknown>, 'parse' | 'run'> & {
  parse(args: readonly string[], given: never): unknown;
  run(context: Context, input: never): Promise<ExitCode | undefined>;
};
