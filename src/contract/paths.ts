// Importing z.core would bundle all of zod, including its error messages in every language.
import { $ZodNullable, $ZodObject, $ZodOptional, type $ZodType, $ZodUnion } from 'zod/v4/core';

/**
 * The dotted paths of all documented fields, for `--fields` and CSV headers. Objects are expanded,
 * arrays are not; a union has the fields of all its members.
 */
export function fieldPaths(schema: $ZodType, prefix = ''): string[] {
  const inner = innermost(schema);
  if (inner instanceof $ZodUnion) {
    return [...new Set(inner._zod.def.options.flatMap((option) => fieldPaths(option, prefix)))];
  }
  const entries = inner instanceof $ZodObject ? Object.entries(inner._zod.def.shape) : [];
  if (entries.length === 0) return prefix === '' ? [] : [prefix];
  return entries.flatMap(([key, value]) =>
    fieldPaths(value, prefix === '' ? key : `${prefix}.${key}`),
  );
}

function innermost(schema: $ZodType): $ZodType {
  if (schema instanceof $ZodOptional || schema instanceof $ZodNullable) {
    return innermost(schema._zod.def.innerType);
  }
  return schema;
}
