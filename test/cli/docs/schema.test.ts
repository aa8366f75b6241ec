import { describe, expect, it } from 'vitest';
import { allCommands } from '../../../src/cli/docs/help.ts';
import { commandPage } from '../../../src/cli/docs/page.ts';
import { describeAll, describeCommand, recordSchema } from '../../../src/cli/docs/schema.ts';
import { PlannedCall } from '../../../src/contract/records/tool.ts';

const commands = await allCommands();

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Paths of the properties of a JSON Schema, at any depth, that lack a description. */
function undescribed(schema: unknown, path = ''): string[] {
  if (!isObject(schema)) return [];
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const own = Object.entries(properties).flatMap(([name, property]) => [
    ...(isObject(property) && typeof property['description'] === 'string'
      ? []
      : [`${path}.${name}`]),
    ...undescribed(property, `${path}.${name}`),
  ]);
  const inner = ['items', 'anyOf', 'oneOf', 'allOf', '$defs'].flatMap((key) => {
    const value = schema[key];
    return key === 'items' ? [value] : isObject(value) ? Object.values(value) : [];
  });
  return [...own, ...inner.flatMap((each) => undescribed(each, path))];
}

describe('the schema of a record describes every field', () => {
  it.each(commands.flatMap(({ path, record }) => (record ? [[path, record()] as const] : [])))(
    'of trdr %s',
    (_, record) => expect(undescribed(recordSchema(record))).toEqual([]),
  );

  it('of a dry run and of an error', () => {
    expect(undescribed(recordSchema(PlannedCall))).toEqual([]);
    expect(undescribed(describeAll(commands).error)).toEqual([]);
  });

  it('and a field without a description is found, however deep', () => {
    const schema = {
      anyOf: [{ properties: { a: { description: 'x', items: { properties: { b: {} } } } } }],
    };
    expect(undescribed(schema)).toEqual(['.a.b']);
  });
});

it.each(commands.map((command) => [command.path, command] as const))(
  'the help of trdr %s and its schema list each flag once, also one that replaces a common flag',
  (_, command) => {
    const shown = commandPage(command).sections.flatMap(({ terms = [] }) =>
      terms.flatMap(([term]) => /--[a-z-]+/.exec(term) ?? []),
    );
    for (const names of [shown, describeCommand(command).flags.map(({ name }) => name)])
      expect(names).toEqual([...new Set(names)]);
  },
);

it('a flag that replaces a common flag is described with the values that the command accepts', () => {
  const command = commands.find(({ path }) => path === 'store status');
  const output = command && describeCommand(command).flags.find(({ name }) => name === '--output');
  expect(output?.value?.choices).toContain('metrics');
});
