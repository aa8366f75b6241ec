// Importing z.core would bundle all of zod, including its error messages in every language.
import type * as z from 'zod/mini';
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

/** The same paths as a type, so that a list of fields compiles only if the record has them. */
export type FieldPath<S> =
  S extends z.ZodMiniUnion<infer Options>
    ? FieldPath<Options[number]>
    : S extends z.ZodMiniOptional<infer Inner> | z.ZodMiniNullable<infer Inner>
      ? FieldPath<Inner>
      : S extends z.ZodMiniObject<infer Shape>
        ? PathIn<Shape>
        : never;

type PathIn<Shape> = {
  [K in keyof Shape & string]: K | `${K}.${FieldPath<Shape[K]>}`;
}[keyof Shape & string];
