import * as z from 'zod/mini';
import { errorCodes } from '../../contract/errors.ts';
import { ErrorInfo } from '../../contract/records/subject.ts';
import { commonOptions } from '../args/common.ts';
import { longName, notReplaced, type Option, shortName } from '../args/option.ts';
import type { AnyCommand } from '../command.ts';
import { exitCodes, limitCodes } from '../exit.ts';
import { callPrices } from '../spend/plan.ts';
import { version } from '../version.ts';
import { usageLine } from './page.ts';

/** Describes a command for programs: its arguments, flags, records, prices and exit codes. */
export function describeCommand(command: AnyCommand) {
  return {
    command: command.path,
    summary: command.summary,
    usage: usageLine(command),
    about: command.about,
    args: command.args.map(({ name, help, optional, variadic, choices }) => ({
      name,
      help,
      required: optional !== true,
      variadic: variadic === true,
      ...(choices && { choices }),
    })),
    flags: [command.options, notReplaced(commonOptions(command.common), command.options)]
      .flatMap((options) => Object.values(options))
      .map(flagOf),
    stream: command.stream === true,
    record: command.record ? recordSchema(command.record()) : null,
    prices: callPrices(command),
    exits: command.exits.map((code) => ({ code, meaning: exitCodes[code] })),
    examples: command.examples,
  };
}

/** Describes all commands, and what they have in common, in one document. */
export function describeAll(commands: readonly AnyCommand[]) {
  return {
    name: 'trdr',
    version,
    exits: Object.entries(exitCodes).map(([code, meaning]) => ({ code: Number(code), meaning })),
    error: recordSchema(z.looseObject({ error: ErrorInfo })),
    codes: Object.entries(errorCodes).map(([code, row]) => ({ code, ...row })),
    limits: Object.entries(limitCodes).map(([code, row]) => ({ code, ...row })),
    commands: commands.map(describeCommand),
  };
}

function flagOf(option: Option<unknown>) {
  const short = shortName(option);
  const { value } = option;
  return {
    name: `--${longName(option)}`,
    ...(short !== undefined && { short: `-${short}` }),
    help: option.help,
    ...(value && { value: { name: value.name, ...(value.choices && { choices: value.choices }) } }),
    ...(option.shown !== undefined && { default: option.shown }),
    repeatable: option.repeatable === true,
    ...(option.excludes && { excludes: option.excludes }),
  };
}

/**
 * The JSON Schema (2020-12) of printed records.
 * @internal Exported for tests.
 */
export const recordSchema = (schema: z.core.$ZodType): Record<string, unknown> => ({
  ...z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'output' }),
});
