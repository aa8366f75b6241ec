import * as z from 'zod/mini';

/** Metadata of a schema besides its type, for OpenAPI, `trdr schema` and the docs. */
interface FieldMeta {
  description?: string;
  format?: string;
  /** The value that the service uses if the field is absent. */
  default?: string | number;
}

/** Adds a description and other metadata to a schema. The schema still accepts the same values. */
export function field<S extends z.core.$ZodType>(schema: S, description: string, meta: FieldMeta = {}): S {
  z.globalRegistry.add(schema, { description, ...meta } as z.core.GlobalMeta);
  return schema;
}

/** A string of `min` to `max` characters. */
export const bounded = (min: number, max: number) => z.string().check(z.minLength(min), z.maxLength(max));

export const nullable = <S extends z.core.$ZodType>(schema: S) => z.nullable(schema);

export const loose = <S extends z.core.$ZodType>(schema: S) => z.optional(z.nullable(schema));
