import * as z from 'zod/mini';
import { isRecord, textOf } from '../../base/json-object.ts';
import { errorCodes } from '../../contract/errors.ts';
import { ErrorInfo } from '../../contract/records/subject.ts';
import { alwaysOptions, commonGroups, commonOptions } from '../args/common.ts';
import { longName, notReplaced, type Option, shortName } from '../args/option.ts';
import type { AnyCommand } from '../command.ts';
import { exitCodes, limitCodes } from '../exit.ts';
import { callPrices } from '../spend/plan.ts';
import { version } from '../version.ts';
import { usageLine } from './page.ts';

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
    examples: Object.entries(command.examples).map(([run, does]) => ({ run, does })),
  };
}

/** The map of all commands, small enough to be read first. `describeCommand` has the rest. */
export function describeAll(commands: readonly AnyCommand[]) {
  return {
    name: 'trdr',
    version,
    more: 'trdr schema COMMAND',
    exits: Object.entries(exitCodes).map(([code, meaning]) => ({ code: Number(code), meaning })),
    error: recordSchema(z.looseObject({ error: ErrorInfo })),
    codes: Object.entries(errorCodes).map(([code, row]) => ({ code, ...row })),
    limits: Object.entries(limitCodes).map(([code, row]) => ({ code, ...row })),
    flags: Object.entries({ always: alwaysOptions, ...commonGroups }).map(([group, options]) => ({
      group,
      flags: Object.values(options).map((option) => ({
        name: `--${longName(option)}`,
        help: option.help,
      })),
    })),
    commands: commands.map((command) => ({
      command: command.path,
      summary: command.summary,
      flags: command.common,
      prices: callPrices(command).map(({ endpoint, price }) => ({ endpoint, price })),
      exits: command.exits,
    })),
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
    ...(option.repeatable && { repeatable: true }),
    ...(option.excludes && { excludes: option.excludes }),
  };
}

/** @internal Exported for tests. */
export function recordSchema(schema: z.core.$ZodType): Record<string, unknown> {
  const { $defs: shared = {}, ...own } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io: 'output',
    reused: 'ref',
    override: ({ jsonSchema }) => shorten(jsonSchema),
  });
  const objects = Object.entries(shared).filter(([, { properties }]) => properties !== undefined);
  const inlined = inlineFields(own, shared);
  if (objects.length === 0) return inlined;
  return { ...inlined, $defs: inlineFields(Object.fromEntries(objects), shared) };
}

/** Only an object with fields of its own is worth a reference; a plain field is read where it is. */
function inlineFields(part: object, shared: Record<string, z.core.JSONSchema.BaseSchema>) {
  const text = JSON.stringify(part, (_, value: unknown) => {
    const reference = isRecord(value) ? textOf(value['$ref']) : undefined;
    const field = shared[reference?.replace('#/$defs/', '') ?? ''];
    return field === undefined || field.properties ? value : { ...field };
  });
  return JSON.parse(text) as Record<string, unknown>;
}

/** Removes what zod writes and what says nothing: the bounds of a double, `additionalProperties: {}`, and nested types. */
function shorten(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  const { additionalProperties: more, anyOf } = schema;
  if (typeof more === 'object' && Object.keys(more).length === 0)
    delete schema.additionalProperties;
  const types = anyOf?.flatMap((each) =>
    Object.keys(each).length === 1 && typeof each.type === 'string' ? [each.type] : [],
  );
  if (!anyOf || !types || types.length < anyOf.length) return;
  delete schema.anyOf;
  Object.assign(schema, { type: types });
}
