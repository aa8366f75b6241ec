import * as z from 'zod/mini';
import { field } from '../field.ts';
import { PriceRecord } from './tool.ts';

const Exit = z.looseObject({ code: z.int(), meaning: z.string() });
const JsonSchema = z.looseObject({});

/** A command as `trdr schema` describes it. */
export const CommandDocument = z.looseObject({
  command: field(z.string(), 'The words that call it.'),
  summary: z.string(),
  usage: z.string(),
  about: z.array(z.string()),
  args: z.array(
    z.looseObject({
      name: z.string(),
      help: z.string(),
      required: z.boolean(),
      variadic: z.boolean(),
      choices: z.optional(z.array(z.string())),
    }),
  ),
  flags: z.array(
    z.looseObject({
      name: z.string(),
      short: z.optional(z.string()),
      help: z.string(),
      value: z.optional(
        field(
          z.looseObject({ name: z.string(), choices: z.optional(z.array(z.string())) }),
          'Absent on a switch.',
        ),
      ),
      default: z.optional(z.string()),
      repeatable: z.boolean(),
    }),
  ),
  stream: field(z.boolean(), 'It has no end of its own.'),
  record: field(z.nullable(JsonSchema), 'JSON Schema of one record; null where it prints no records.'),
  prices: z.array(PriceRecord),
  exits: z.array(Exit),
  examples: z.array(z.looseObject({ run: z.string(), does: z.string() })),
});
export type CommandDocument = z.infer<typeof CommandDocument>;

/** All commands, as `trdr schema` describes them. */
export const CommandMap = z.looseObject({
  name: z.string(),
  version: z.string(),
  exits: field(z.array(Exit), 'What every exit code means.'),
  error: field(JsonSchema, 'JSON Schema of the line on stderr in the machine formats.'),
  codes: field(
    z.array(
      z.looseObject({ code: z.string(), status: z.int(), retryable: z.boolean(), meaning: z.string() }),
    ),
    'The error codes of the service.',
  ),
  commands: z.array(CommandDocument),
});

/** What `trdr schema` prints: a command, or the map of all. */
export const SchemaRecord = z.union([CommandDocument, CommandMap]);
