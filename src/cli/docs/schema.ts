import type { Option } from 'commander';
import * as z from 'zod/mini';
import { isRecord, textOf } from '../../base/json-object.ts';
import { errorCodes } from '../../contract/errors.ts';
import { withoutSafeBounds } from '../../contract/field.ts';
import { RunError } from '../../contract/records/subject.ts';
import { alwaysOptions, commonGroups, helpFlag } from '../args/common.ts';
import { Flag } from '../args/option.ts';
import { exitCodes, limitCodes } from '../exit.ts';
import { version } from '../version.ts';
import { commandProse } from './command-prose.ts';
import type { Leaf } from './page.ts';
import { callPrices } from './price-list.ts';
import type { Section } from './prose.ts';

const paragraphsOf = ({ text = [], terms = [] }: Section): string[] => [
  ...text,
  ...terms.map(([term, meaning]) => `${term}: ${meaning}`),
];

export function describeCommand(leaf: Leaf) {
  const { spec } = leaf;
  const prose = commandProse(spec);
  return {
    command: spec.path,
    summary: leaf.summary(),
    usage: leaf.createHelp().commandUsage(leaf),
    about: [...prose.about, ...prose.details.flatMap(paragraphsOf)],
    args: leaf.registeredArguments.map((word) => ({
      name: word.name(),
      help: word.description,
      required: word.required,
      variadic: word.variadic,
      ...(word.argChoices && { choices: word.argChoices }),
    })),
    flags: [...leaf.options, helpFlag].map(flagOf),
    stream: spec.stream === true,
    record: spec.record ? recordSchema(spec.record()) : null,
    prices: callPrices(spec),
    exits: spec.exits.map((code) => ({ code, meaning: exitCodes[code] })),
    examples: Object.entries(prose.examples).map(([run, does]) => ({ run, does })),
  };
}

/** The map of all commands, small enough to be read first. `describeCommand` has the rest. */
export function describeAll(leaves: readonly Leaf[]) {
  return {
    name: 'trdr',
    version,
    more: 'trdr schema COMMAND',
    exits: Object.entries(exitCodes).map(([code, meaning]) => ({ code: Number(code), meaning })),
    error: recordSchema(z.looseObject({ error: RunError })),
    codes: Object.entries(errorCodes).map(([code, row]) => ({ code, ...row })),
    limits: Object.entries(limitCodes).map(([code, row]) => ({ code, ...row })),
    flags: Object.entries({ always: alwaysOptions, ...commonGroups }).map(([group, options]) => ({
      group,
      flags: Object.values(options).map(({ long, description }) => ({
        name: long,
        help: description,
      })),
    })),
    commands: leaves.map(({ spec }) => ({
      command: spec.path,
      summary: commandProse(spec).summary,
      flags: spec.common,
      prices: callPrices(spec).map(({ endpoint, price }) => ({ endpoint, price })),
      exits: spec.exits,
    })),
  };
}

function flagOf(option: Option) {
  const { long, short, description, argChoices, defaultValueDescription } = option;
  const own = option instanceof Flag ? option : undefined;
  return {
    name: long,
    ...(short !== undefined && { short }),
    help: description,
    ...(own?.kind && {
      value: { name: own.kind.name, ...(argChoices && { choices: argChoices }) },
    }),
    ...(defaultValueDescription !== undefined && { default: defaultValueDescription }),
    ...(own?.isRepeatable && { repeatable: true }),
    ...(own && own.excludes.length > 0 && { excludes: own.excludes }),
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

/**
 * Only an object with fields of its own is worth a reference; a plain field is read where it is.
 */
function inlineFields(part: object, shared: Record<string, z.core.JSONSchema.BaseSchema>) {
  const text = JSON.stringify(part, (_, value: unknown) => {
    const reference = isRecord(value) ? textOf(value['$ref']) : undefined;
    const field = shared[reference?.replace('#/$defs/', '') ?? ''];
    return field === undefined || field.properties ? value : { ...field };
  });
  return JSON.parse(text) as Record<string, unknown>;
}

/**
 * Removes what zod writes and what says nothing: the bounds of a double, `additionalProperties:
 * {}`, and nested types.
 */
function shorten(schema: z.core.JSONSchema.BaseSchema): void {
  withoutSafeBounds(schema);
  const { additionalProperties: more, anyOf } = schema;
  if (typeof more === 'object' && Object.keys(more).length === 0)
    delete schema.additionalProperties;
  const types = anyOf?.flatMap((option) =>
    Object.keys(option).length === 1 && typeof option.type === 'string' ? [option.type] : [],
  );
  if (!anyOf || !types || types.length < anyOf.length) return;
  delete schema.anyOf;
  Object.assign(schema, { type: types });
}
