import { isRecord, type JsonObject } from '../base/json-object.ts';

/** A field in an API description: its types, and whether the field is required. */
export interface DescribedField {
  /** Sorted JSON types; empty if any type is allowed. */
  readonly types: readonly string[];
  readonly required: boolean;
}

/** Maximum nesting. Deeper schemas are recursive or not relevant. */
const DEEPEST = 8;

/** The fields of a schema by their paths: `items[].id`, `usage.unitsUsed`. Follows references. */
export function describedFields(schema: unknown, document: unknown): Map<string, DescribedField> {
  const found = new Map<string, DescribedField>();
  collect(schema, document, '', true, found, 0);
  return found;
}

function collect(
  given: unknown,
  document: unknown,
  path: string,
  required: boolean,
  found: Map<string, DescribedField>,
  depth: number,
): void {
  if (depth > DEEPEST) return;
  const alternatives = alternativesOf(given, document, 0);
  const types = typesOf(alternatives);
  const known = found.get(path);
  found.set(path, {
    types: known && (known.types.length === 0 || types.length === 0) ? [] : union(known?.types ?? [], types),
    required: required && (known?.required ?? true),
  });
  const objects = alternatives.filter((alternative) => isRecord(alternative['properties']));
  for (const alternative of objects) {
    const must = Array.isArray(alternative['required']) ? alternative['required'] : [];
    for (const [name, inner] of Object.entries(asObject(alternative['properties']))) {
      // With several alternatives, every field counts as optional, because another alternative may lack the field.
      const always = must.includes(name) && alternatives.length === 1;
      collect(inner, document, path === '' ? name : `${path}.${name}`, always, found, depth + 1);
    }
  }
  for (const alternative of alternatives) {
    if (alternative['items'] !== undefined)
      collect(alternative['items'], document, `${path}[]`, true, found, depth + 1);
  }
}

/**
 * The alternatives that a schema allows: references are followed, unions are split, `allOf` parts are merged.
 */
function alternativesOf(given: unknown, document: unknown, depth: number): JsonObject[] {
  if (!isRecord(given) || depth > DEEPEST) return [{}];
  if (typeof given['$ref'] === 'string')
    return alternativesOf(resolve(given['$ref'], document), document, depth + 1);
  if (Array.isArray(given['allOf'])) {
    const parts = [given, ...given['allOf'].flatMap((part) => alternativesOf(part, document, depth + 1))];
    const properties = Object.assign({}, ...parts.map((part) => asObject(part['properties'])));
    const required = parts.flatMap((part) => (Array.isArray(part['required']) ? part['required'] : []));
    const whole = Object.assign({}, ...parts, { properties, required });
    delete whole.allOf;
    return [whole];
  }
  const options = given['anyOf'] ?? given['oneOf'];
  if (Array.isArray(options)) {
    const alternatives = options.flatMap((option) => alternativesOf(option, document, depth + 1));
    return given['nullable'] === true ? [...alternatives, { type: 'null' }] : alternatives;
  }
  return [given];
}

/** The JSON types of several alternatives; empty if one of them allows any type. */
function typesOf(alternatives: readonly JsonObject[]): string[] {
  const all = alternatives.map((alternative) => {
    const { type, nullable } = alternative;
    const named = Array.isArray(type)
      ? type.map(String)
      : typeof type === 'string'
        ? [type]
        : implied(alternative);
    return nullable === true && named.length > 0 ? [...named, 'null'] : named;
  });
  return all.some((types) => types.length === 0) ? [] : union([], all.flat());
}

/** The type of a schema that has no `type`, derived from its other members: `properties` implies an object. */
function implied(alternative: JsonObject): string[] {
  if (isRecord(alternative['properties'])) return ['object'];
  if (alternative['items'] !== undefined) return ['array'];
  const values = Array.isArray(alternative['enum'])
    ? alternative['enum']
    : 'const' in alternative
      ? [alternative['const']]
      : [];
  return values.map((value) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value));
}

const union = (a: readonly string[], b: readonly string[]) => [...new Set([...a, ...b])].sort();

function resolve(ref: string, document: unknown): unknown {
  if (!ref.startsWith('#/')) return {};
  let at: unknown = document;
  for (const part of ref.slice(2).split('/')) {
    at = asObject(at)[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return at;
}

export const asObject = (value: unknown): JsonObject => (isRecord(value) ? value : {});
