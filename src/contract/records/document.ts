import * as z from 'zod/mini';
import { field, flag, int, nullable, optional, text } from '../field.ts';
import { PriceRecord } from './tool.ts';

const Exit = z.looseObject({
  code: int('Exit code.'),
  meaning: text('The meaning of the code.'),
});
const JsonSchema = z.looseObject({});

export const CommandDocument = z.looseObject({
  command: text('The words of the command, such as "thesis list".'),
  summary: text('Summary of the command, in one line.'),
  usage: text('Usage line.'),
  about: field(z.array(z.string()), "Paragraphs of the command's description."),
  args: field(
    z.array(
      z.looseObject({
        name: text('Name of the argument.'),
        help: text('Description of the argument.'),
        required: flag('Whether the argument is required.'),
        variadic: flag('Whether the argument can be repeated.'),
        choices: optional(z.array(z.string()), 'Accepted values.'),
      }),
    ),
    'Positional arguments.',
  ),
  flags: field(
    z.array(
      z.looseObject({
        name: text('Long name, including the dashes.'),
        short: z.optional(text('Short name, including the dash.')),
        help: text('Description of the flag.'),
        value: optional(
          z.looseObject({
            name: text('Type of the value.'),
            choices: optional(z.array(z.string()), 'Accepted values.'),
          }),
          'The value of the flag; absent if the flag takes no value.',
        ),
        default: z.optional(text('Default value.')),
        repeatable: z.optional(flag('True if the flag can be repeated.')),
        excludes: optional(z.array(z.string()), 'Flags that cannot be combined with this one.'),
      }),
    ),
    'Flags, including the common ones.',
  ),
  stream: flag('Whether the command prints records until it is stopped.'),
  record: nullable(JsonSchema, 'JSON Schema of one record; null if the command prints no records.'),
  prices: field(z.array(PriceRecord), 'Prices of the endpoints that the command can call.'),
  exits: field(z.array(Exit), 'Exit codes of the command.'),
  examples: field(
    z.array(
      z.looseObject({
        run: text('Command line.'),
        does: text('Description of the example.'),
      }),
    ),
    'Example command lines.',
  ),
});
export type CommandDocument = z.infer<typeof CommandDocument>;

export const CommandMap = z.looseObject({
  name: text('Name of the program.'),
  version: text('Version of the program.'),
  exits: field(z.array(Exit), 'Meaning of every exit code.'),
  error: field(JsonSchema, 'JSON Schema of the error line on stderr in machine formats.'),
  codes: field(
    z.array(
      z.looseObject({
        code: text('Error code.'),
        status: int('HTTP status.'),
        retryable: flag('Whether the same call can succeed later.'),
        meaning: text('Meaning of the error code.'),
      }),
    ),
    'The error codes of the service.',
  ),
  limits: field(
    z.array(
      z.looseObject({
        code: text('Error code.'),
        exit: int('Exit code.'),
        meaning: text('Meaning of the error code.'),
      }),
    ),
    'The error codes of trdr for limits and confirmations.',
  ),
  more: text('The command that describes one command: arguments, own flags, records and examples.'),
  flags: field(
    z.array(
      z.looseObject({
        group: text('The name by which commands state that they accept these flags.'),
        flags: field(
          z.array(
            z.looseObject({
              name: text('Long name, including the dashes.'),
              help: text('Description of the flag.'),
            }),
          ),
          'The flags.',
        ),
      }),
    ),
    'The flags that commands share, by group; every command accepts the group always.',
  ),
  commands: field(
    z.array(
      z.looseObject({
        command: text('The words of the command.'),
        summary: text('Summary of the command, in one line.'),
        flags: field(z.array(z.string()), 'The groups of shared flags that the command accepts.'),
        prices: field(
          z.array(
            z.looseObject({
              endpoint: text('Endpoint that the command can call.'),
              price: text('Its price in words.'),
            }),
          ),
          'Prices of the endpoints that the command can call.',
        ),
        exits: field(z.array(z.int()), 'Exit codes of the command.'),
      }),
    ),
    'All commands.',
  ),
});

export const SchemaRecord = z.union([CommandDocument, CommandMap]);
