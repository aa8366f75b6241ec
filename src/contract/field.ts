import * as z from 'zod/mini';

/** Metadata of a schema beyond its type, for OpenAPI, `trdr schema` and the docs. */
export interface FieldMeta {
  description?: string;
  format?: string;
  /** The service's default for an absent field. */
  default?: string | number;
}

/** Attaches a description (and a format) to a schema without restricting what it accepts. */
export function field<S extends z.core.$ZodType>(schema: S, description: string, meta: FieldMeta = {}): S {
  z.globalRegistry.add(schema, { description, ...meta } as z.core.GlobalMeta);
  return schema;
}

/** A string of `min` to `max` characters. */
export const bounded = (min: number, max: number) => z.string().check(z.minLength(min), z.maxLength(max));

/** A field that is always present and may be null. */
export const nullable = <S extends z.core.$ZodType>(schema: S) => z.nullable(schema);

/** A field that may be absent, and may be null where present. */
export const loose = <S extends z.core.$ZodType>(schema: S) => z.optional(z.nullable(schema));
