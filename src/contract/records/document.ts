import * as z from 'zod/mini';
import { field } from '../field.ts';
import { PriceRecord } from './tool.ts';

const Exit = z.looseObject({
  code: field(z.int(), 'Exit code.'),
  meaning: field(z.string(), 'The meaning of the code.'),
});
const JsonSchema = z.looseObject({});

export const CommandDocument = z.looseObject({
  command: field(z.string(), 'The words of the command, such as "thesis list".'),
  summary: field(z.string(), 'Summary of the command, in one line.'),
  usage: field(z.string(), 'Usage line.'),
  about: field(z.array(z.string()), "Paragraphs of the command's description."),
  args: field(
    z.array(
      z.looseObject({
        name: field(z.string(), 'Name of the argument.'),
        help: field(z.string(), 'Description of the argument.'),
        required: field(z.boolean(), 'Whether the argument is required.'),
        variadic: field(z.boolean(), 'Whether the argument can be repeated.'),
        choices: z.optional(field(z.array(z.string()), 'Accepted values.')),
      }),
    ),
    'Positional arguments.',
  ),
  flags: field(
    z.array(
      z.looseObject({
        name: field(z.string(), 'Long name, including the dashes.'),
        short: z.optional(field(z.string(), 'Short name, including the dash.')),
        help: field(z.string(), 'Description of the flag.'),
        value: z.optional(
          field(
            z.looseObject({
              name: field(z.string(), 'Type of the value.'),
              choices: z.optional(field(z.array(z.string()), 'Accepted values.')),
            }),
            'The value of the flag; absent if the flag takes no value.',
          ),
        ),
        default: z.optional(field(z.string(), 'Default value.')),
        repeatable: z.optional(field(z.boolean(), 'True if the flag can be repeated.')),
        excludes: z.optional(field(z.array(z.string()), 'Flags that cannot be combined with this one.')),
      }),
    ),
    'Flags, including the common ones.',
  ),
  stream: field(z.boolean(), 'Whether the command prints records until it is stopped.'),
  record: field(z.nullable(JsonSchema), 'JSON Schema of one record; null if the command prints no records.'),
  prices: field(z.array(PriceRecord), 'Prices of the endpoints that the command can call.'),
  exits: field(z.array(Exit), 'Exit codes of the command.'),
  examples: field(
    z.array(
      z.looseObject({
        run: field(z.string(), 'Command line.'),
        does: field(z.string(), 'Description of the example.'),
      }),
    ),
    'Example command lines.',
  ),
});
export type CommandDocument = z.infer<typeof CommandDocument>;

export const CommandMap = z.looseObject({
  name: field(z.string(), 'Name of the program.'),
  version: field(z.string(), 'Version of the program.'),
  exits: field(z.array(Exit), 'Meaning of every exit code.'),
  error: field(JsonSchema, 'JSON Schema of the error line on stderr in machine formats.'),
  codes: field(
    z.array(
      z.looseObject({
        code: field(z.string(), 'Error code.'),
        status: field(z.int(), 'HTTP status.'),
        retryable: field(z.boolean(), 'Whether the same call can succeed later.'),
        meaning: field(z.string(), 'Meaning of the error code.'),
      }),
    ),
    'The error codes of the service.',
  ),
  limits: field(
    z.array(
      z.looseObject({
        code: field(z.string(), 'Error code.'),
        exit: field(z.int(), 'Exit code.'),
        meaning: field(z.string(), 'Meaning of the error code.'),
      }),
    ),
    'The error codes of trdr for limits and confirmations.',
  ),
  more: field(
    z.string(),
    'The command that describes one command: arguments, own flags, records and examples.',
  ),
  flags: field(
    z.array(
      z.looseObject({
        group: field(z.string(), 'The name by which commands state that they accept these flags.'),
        flags: field(
          z.array(
            z.looseObject({
              name: field(z.string(), 'Long name, including the dashes.'),
              help: field(z.string(), 'Description of the flag.'),
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
        command: field(z.string(), 'The words of the command.'),
        summary: field(z.string(), 'Summary of the command, in one line.'),
        flags: field(z.array(z.string()), 'The groups of shared flags that the command accepts.'),
        prices: field(
          z.array(
            z.looseObject({
              endpoint: field(z.string(), 'Endpoint that the command can call.'),
              price: field(z.string(), 'Its price in words.'),
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
