import type * as z from 'zod/mini';
import type { EndpointId } from '../contract/endpoints.ts';
import type { Common } from './args/common.ts';
import type { GivenFlags, Options } from './args/option.ts';
import type { Context } from './context.ts';
import type { ExitCode } from './exit.ts';
import type { SettingsUse } from './settings/settings.ts';

/** An argument of a command: `SUBJECT...`. */
export interface Argument {
  readonly name: string;
  readonly help: string;
  readonly optional?: boolean;
  readonly variadic?: boolean;
  /** How to complete it; `path` is an API path. */
  readonly complete?: 'file' | 'profile' | 'handle' | 'command' | 'help' | 'path';
  readonly choices?: readonly string[];
  /** Choices that depend on the previous argument. */
  readonly choicesBy?: Readonly<Record<string, readonly string[]>>;
}

/**
 * A command as a value. `parse` turns words into input without side effects; `run` executes it. Each half
 * can be tested alone.
 */
export interface Command<O extends Options, I> {
  /** The words that run it: `thesis tail`. */
  readonly path: string;
  readonly summary: string;
  /** Paragraphs of the reference page. */
  readonly about: readonly string[];
  readonly args: readonly Argument[];
  readonly options: O;
  readonly common: readonly Common[];
  readonly examples: readonly { readonly run: string; readonly does: string }[];
  /** The endpoints that it may call; its help lists their prices. */
  readonly calls: readonly (EndpointId | 'ws')[];
  /** The schema of one printed record. */
  readonly record?: () => z.core.$ZodType;
  /** A stream has no end of its own: it rejects `json`, and `--out` appends. */
  readonly stream?: boolean;
  readonly exits: readonly ExitCode[];
  /** How the command deals with settings that cannot be read. */
  readonly settings?: SettingsUse;
  /** The hint for a command line with too many arguments. */
  readonly excess?: string;
  readonly parse: (args: readonly string[], given: GivenFlags<O>) => I;
  readonly run: (context: Context, input: I) => Promise<ExitCode | undefined>;
}

/** Checks the form of a command and keeps its own types. */
export const command = <const O extends Options, I>(spec: Command<O, I>): Command<O, I> => spec;

/** A command of unknown types, as the tree, help and docs see it. */
export type AnyCommand = Omit<Command<Options, unknown>, 'parse' | 'run'> & {
  parse(args: readonly string[], given: never): unknown;
  run(context: Context, input: never): Promise<ExitCode | undefined>;
};
