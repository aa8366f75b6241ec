import * as z from 'zod/mini';
import { boolean, field, int, nullable, optional, string } from '../field.ts';
import { PriceRecord } from './tool.ts';

const Exit = z.looseObject({
  code: int('Exit code.'),
  meaning: string('The meaning of the code.'),
});
const JsonSchema = z.looseObject({});
const command = string('The words of the command, such as "thesis list".');
const summary = string('Summary of the command, in one line.');
const flagShape = {
  name: string('Long name, including the dashes.'),
  help: string('Description of the flag.'),
};
const values = { choices: optional(z.array(z.string()), 'Accepted values.') };

export const CommandDocument = z.looseObject({
  command,
  summary,
  usage: string('Usage line.'),
  about: field(z.array(z.string()), "Paragraphs of the command's description."),
  args: field(
    z.array(
      z.looseObject({
        name: string('Name of the argument.'),
        help: string('Description of the argument.'),
        required: boolean('Whether the argument is required.'),
        variadic: boolean('Whether the argument can be repeated.'),
        ...values,
      }),
    ),
    'Positional arguments.',
  ),
  flags: field(
    z.array(
      z.looseObject({
        ...flagShape,
        short: z.optional(string('Short name, including the dash.')),
        value: optional(
          z.looseObject({ name: string('Type of the value.'), ...values }),
          'The value of the flag; absent if the flag takes no value.',
        ),
        default: z.optional(string('Default value.')),
        repeatable: z.optional(boolean('True if the flag can be repeated.')),
        excludes: optional(z.array(z.string()), 'Flags that cannot be combined with this one.'),
      }),
    ),
    'Flags, including the common ones.',
  ),
  stream: boolean('Whether the command prints records until it is stopped.'),
  record: nullable(JsonSchema, 'JSON Schema of one record; null if the command prints no records.'),
  prices: field(z.array(PriceRecord), 'Prices of the endpoints that the command can call.'),
  exits: field(z.array(Exit), 'Exit codes of the command.'),
  examples: field(
    z.array(
      z.looseObject({
        run: string('Command line.'),
        does: string('Description of the example.'),
      }),
    ),
    'Example command lines.',
  ),
});

export const CommandMap = z.looseObject({
  name: string('Name of the program.'),
  version: string('Version of the program.'),
  exits: field(z.array(Exit), 'Meaning of every exit code.'),
  error: field(JsonSchema, 'JSON Schema of the error line on stderr in machine formats.'),
  codes: field(
    z.array(
      z.looseObject({
        code: string('Error code.'),
        status: int('HTTP status.'),
        retryable: boolean('Whether the same call can succeed later.'),
        meaning: string('Meaning of the error code.'),
      }),
    ),
    'The error codes of the service.',
  ),
  limits: field(
    z.array(
      z.looseObject({
        code: string('Error code.'),
        exit: int('Exit code.'),
        meaning: string('Meaning of the error code.'),
      }),
    ),
    'The error codes of trdr for limits and confirmations.',
  ),
  more: string(
    'The command that describes one command: arguments, own flags, records and examples.',
  ),
  flags: field(
    z.array(
      z.looseObject({
        group: string('The name by which commands state that they accept these flags.'),
        flags: field(z.array(z.looseObject(flagShape)), 'The flags.'),
      }),
    ),
    'The flags that commands share, by group; every command accepts the group always.',
  ),
  commands: field(
    z.array(
      z.looseObject({
        command,
        summary,
        flags: field(z.array(z.string()), 'The groups of shared flags that the command accepts.'),
        prices: field(
          z.array(
            z.looseObject({
              endpoint: string('Endpoint that the command can call.'),
              price: string('Its price in words.'),
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
