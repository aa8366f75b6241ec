import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { allCommands } from '../../../src/cli/docs/help.ts';
import { timeName } from '../../../src/output/format/printer.ts';

/** The fields of a record with their descriptions. */
function* fieldsOf(
  schema: z.core.$ZodType,
  path = '',
): Generator<readonly [path: string, description: string]> {
  const { description = '' } = z.globalRegistry.get(schema) ?? {};
  if (path !== '') yield [path, description];
  if (schema instanceof z.core.$ZodUnion)
    for (const option of schema._zod.def.options) yield* fieldsOf(option, path);
  if (schema instanceof z.core.$ZodOptional || schema instanceof z.core.$ZodNullable)
    yield* fieldsOf(schema._zod.def.innerType, path);
  if (schema instanceof z.core.$ZodObject)
    for (const [name, inner] of Object.entries(schema._zod.def.shape))
      yield* fieldsOf(inner, path === '' ? name : `${path}.${name}`);
}

test('--times iso knows each field that is described as a time', async () => {
  const times: string[] = [];
  for (const { record, path: command } of await allCommands())
    for (const [path, description] of record ? fieldsOf(record()) : [])
      if (/\bepoch (ms|milliseconds)\b/.test(description)) times.push(`${command}: ${path}`);
  expect(times.length).toBeGreaterThan(40);
  expect(times.filter((time) => !timeName.test(time.replace(/.*: /, '')))).toEqual([]);
});
