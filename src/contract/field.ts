import * as z from 'zod/mini';

/** For OpenAPI, `trdr schema` and the docs. */
interface FieldMeta {
  description?: string;
  format?: string;
  /** What the service uses if the field is absent. */
  default?: string | number;
}

export function field<S extends z.core.$ZodType>(schema: S, description: string, meta: FieldMeta = {}): S {
  z.globalRegistry.add(schema, { description, ...meta } as z.core.GlobalMeta);
  return schema;
}

export const bounded = (min: number, max: number) => z.string().check(z.minLength(min), z.maxLength(max));

export const nullable = <S extends z.core.$ZodType>(schema: S) => z.nullable(schema);

export const loose = <S extends z.core.$ZodType>(schema: S) => z.optional(z.nullable(schema));
