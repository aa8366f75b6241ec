import * as z from 'zod/mini';
import { field } from '../field.ts';
import { PriceRecord } from './tool.ts';

const Exit = z.looseObject({
  code: field(z.int(), 'Exit code.'),
  meaning: field(z.string(), 'What it means.'),
});
const JsonSchema = z.looseObject({});

/** A command as `trdr schema` describes it. */
export const CommandDocument = z.looseObject({
  command: field(z.string(), 'The words that run the command.'),
  summary: field(z.string(), 'What the command does, in one line.'),
  usage: field(z.string(), 'Usage line.'),
  about: field(z.array(z.string()), 'Paragraphs of the description.'),
  args: field(
    z.array(
      z.looseObject({
        name: field(z.string(), 'Name of the argument.'),
        help: field(z.string(), 'What it means.'),
        required: field(z.boolean(), 'Whether it must be given.'),
        variadic: field(z.boolean(), 'Whether it may be repeated.'),
        choices: z.optional(field(z.array(z.string()), 'Accepted values.')),
      }),
    ),
    'Positional arguments.',
  ),
  flags: field(
    z.array(
      z.looseObject({
        name: field(z.string(), 'Long name, with dashes.'),
        short: z.optional(field(z.string(), 'Short name, with its dash.')),
        help: field(z.string(), 'What it does.'),
        value: z.optional(
          field(
            z.looseObject({
              name: field(z.string(), 'Type of the value.'),
              choices: z.optional(field(z.array(z.string()), 'Accepted values.')),
            }),
            'The value of the flag; absent on a switch.',
          ),
        ),
        default: z.optional(field(z.string(), 'Default value.')),
        repeatable: field(z.boolean(), 'Whether it may be repeated.'),
      }),
    ),
    'Flags, the common ones included.',
  ),
  stream: field(z.boolean(), 'Whether the command streams records without a known end.'),
  record: field(z.nullable(JsonSchema), 'JSON Schema of one record; null if the command prints no records.'),
  prices: field(z.array(PriceRecord), 'Prices of the endpoints that the command may call.'),
  exits: field(z.array(Exit), 'Exit codes of the command.'),
  examples: field(
    z.array(
      z.looseObject({
        run: field(z.string(), 'Command line.'),
        does: field(z.string(), 'What it shows.'),
      }),
    ),
    'Example command lines.',
  ),
});
export type CommandDocument = z.infer<typeof CommandDocument>;

/** All commands, as `trdr schema` describes them. */
export const CommandMap = z.looseObject({
  name: field(z.string(), 'Name of the program.'),
  version: field(z.string(), 'Version of the program.'),
  exits: field(z.array(Exit), 'What every exit code means.'),
  error: field(JsonSchema, 'JSON Schema of the error line on stderr in machine formats.'),
  codes: field(
    z.array(
      z.looseObject({
        code: field(z.string(), 'Error code.'),
        status: field(z.int(), 'HTTP status.'),
        retryable: field(z.boolean(), 'Whether the same call may succeed later.'),
        meaning: field(z.string(), 'What it means.'),
      }),
    ),
    'The error codes of the service.',
  ),
  commands: field(z.array(CommandDocument), 'All commands.'),
});

/** What `trdr schema` prints: a command, or the map of all commands. */
export const SchemaRecord = z.union([CommandDocument, CommandMap]);
