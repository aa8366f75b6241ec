import * as z from 'zod/mini';

/** What a schema states besides its type, for OpenAPI, `trdr schema` and the docs. */
interface FieldMeta {
  description?: string;
  format?: string;
  maxLength?: number;
  /** The value that the service uses if the field is absent. */
  default?: string | number;
  enum?: readonly string[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  required?: readonly string[];
}

/** Describes a schema, which still accepts the same values. */
export function field<S extends z.core.$ZodType>(
  schema: S,
  description: string,
  meta: FieldMeta = {},
): S {
  z.globalRegistry.add(schema, { description, ...meta } as z.core.GlobalMeta);
  return schema;
}

const fieldOf =
  <S extends z.core.$ZodType>(make: () => S) =>
  (description: string, meta?: FieldMeta): S =>
    field(make(), description, meta);
export const string = fieldOf(() => z.string());
export const int = fieldOf(() => z.int());
export const float = fieldOf(() => z.number());
export const boolean = fieldOf(() => z.boolean());
export const stringOrNull = fieldOf(() => z.nullable(z.string()));
export const intOrNull = fieldOf(() => z.nullable(z.int()));
export const floatOrNull = fieldOf(() => z.nullable(z.number()));
export const booleanOrNull = fieldOf(() => z.nullable(z.boolean()));

export const optional = <S extends z.core.$ZodType>(schema: S, description: string) =>
  z.optional(field(schema, description));

export const bounded = (min: number, max: number) =>
  z.string().check(z.minLength(min), z.maxLength(max));

/** JSON Schema without the bounds that zod gives each integer, because they are JavaScript's. */
export function withoutSafeBounds(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}

/** A required field whose value may be null. */
export const nullable = <S extends z.core.$ZodType>(schema: S, description: string) =>
  field(z.nullable(schema), description);

/** An optional field whose value may be null. */
export const loose = <S extends z.core.$ZodType>(schema: S, description: string) =>
  field(z.optional(z.nullable(schema)), description);
