import * as z from 'zod/mini';

/**
 * The dotted paths of every known field of a record, in the order of its description: objects are
 * entered, arrays are not; a union has the fields of all its forms. What `--fields` may name, and what a
 * CSV header holds.
 */
export function fieldPaths(schema: z.core.$ZodType, prefix = ''): string[] {
  const inner = innermost(schema);
  if (inner instanceof z.core.$ZodUnion) {
    return [...new Set(inner._zod.def.options.flatMap((option) => fieldPaths(option, prefix)))];
  }
  const entries = inner instanceof z.core.$ZodObject ? Object.entries(inner._zod.def.shape) : [];
  if (entries.length === 0) return prefix === '' ? [] : [prefix];
  return entries.flatMap(([key, value]) => fieldPaths(value, prefix === '' ? key : `${prefix}.${key}`));
}

function innermost(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.core.$ZodOptional || schema instanceof z.core.$ZodNullable) {
    return innermost(schema._zod.def.innerType);
  }
  return schema;
}
