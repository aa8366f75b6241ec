import { describe, expect, it } from 'vitest';
import { allLeaves } from '../../../src/cli/docs/help.ts';
import { commandPage } from '../../../src/cli/docs/page.ts';
import { describeAll, describeCommand, recordSchema } from '../../../src/cli/docs/schema.ts';
import { PlannedCall } from '../../../src/contract/records/tool.ts';

const leaves = await allLeaves();
const commands = leaves.map(({ spec }) => spec);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Paths of the properties of a JSON Schema, at any depth, that lack a description of their own or of the object that they refer to. */
function undescribed(schema: unknown, path = '', shared = sharedIn(schema)): string[] {
  if (!isObject(schema)) return [];
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const own = Object.entries(properties).flatMap(([name, property]) => [
    ...(isDescribed(property, shared) ? [] : [`${path}.${name}`]),
    ...undescribed(property, `${path}.${name}`, shared),
  ]);
  const inner = ['items', 'anyOf', 'oneOf', 'allOf', '$defs'].flatMap((key) => {
    const value = schema[key];
    return key === 'items' ? [value] : isObject(value) ? Object.values(value) : [];
  });
  return [...own, ...inner.flatMap((each) => undescribed(each, path, shared))];
}

const sharedIn = (schema: unknown): Record<string, unknown> =>
  isObject(schema) && isObject(schema['$defs']) ? schema['$defs'] : {};

function isDescribed(property: unknown, shared: Record<string, unknown>): boolean {
  if (!isObject(property)) return false;
  if (typeof property['description'] === 'string') return true;
  const reference = property['$ref'];
  return (
    typeof reference === 'string' && isDescribed(shared[reference.replace('#/$defs/', '')], shared)
  );
}

describe('the schema of a record describes every field', () => {
  it.each(commands.flatMap(({ path, record }) => (record ? [[path, record()] as const] : [])))(
    'of trdr %s',
    (_, record) => expect(undescribed(recordSchema(record))).toEqual([]),
  );

  it('of a dry run and of an error', () => {
    expect(undescribed(recordSchema(PlannedCall))).toEqual([]);
    expect(undescribed(describeAll(leaves).error)).toEqual([]);
  });

  it('and a field without a description is found, however deep', () => {
    const schema = {
      anyOf: [{ properties: { a: { description: 'x', items: { properties: { b: {} } } } } }],
    };
    expect(undescribed(schema)).toEqual(['.a.b']);
  });
});

it.each(leaves.map((leaf) => [leaf.spec.path, leaf] as const))(
  'the help of trdr %s and its schema list each flag once, also one that replaces a common flag',
  (_, leaf) => {
    const shown = commandPage(leaf).sections.flatMap(({ terms = [] }) =>
      terms.flatMap(([term]) => /--[a-z-]+/.exec(term) ?? []),
    );
    for (const names of [shown, describeCommand(leaf).flags.map(({ name }) => name)])
      expect(names).toEqual([...new Set(names)]);
  },
);

it('a flag that replaces a common flag is described with the values that the command accepts', () => {
  const leaf = leaves.find(({ spec }) => spec.path === 'store status');
  const output = leaf && describeCommand(leaf).flags.find(({ name }) => name === '--output');
  expect(output?.value?.choices).toContain('metrics');
});
