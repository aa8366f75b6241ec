type JsonObject = Readonly<Record<string, unknown>>;

/** A field in one of the documents: its types, and whether it is required. */
export interface FieldForm {
  /** Sorted JSON types; empty if any type is allowed. */
  readonly types: readonly string[];
  readonly required: boolean;
}

/** Maximum depth. Deeper schemas are recursive or irrelevant. */
const DEEPEST = 8;

/** The fields of a schema by their paths: `items[].id`, `usage.unitsUsed`. Follows references. */
export function fieldForms(schema: unknown, document: unknown): Map<string, FieldForm> {
  const found = new Map<string, FieldForm>();
  collect(schema, document, '', true, found, 0);
  return found;
}

function collect(
  given: unknown,
  document: unknown,
  path: string,
  required: boolean,
  found: Map<string, FieldForm>,
  depth: number,
): void {
  if (depth > DEEPEST) return;
  const forms = formsOf(given, document, 0);
  const types = typesOf(forms);
  const known = found.get(path);
  found.set(path, {
    types: known && (known.types.length === 0 || types.length === 0) ? [] : union(known?.types ?? [], types),
    required: required && (known?.required ?? true),
  });
  const objects = forms.filter((form) => isSchemaObject(form['properties']));
  for (const form of objects) {
    const must = Array.isArray(form['required']) ? form['required'] : [];
    for (const [name, inner] of Object.entries(asObject(form['properties']))) {
      // A field of only some of the forms may be absent.
      const always = must.includes(name) && forms.length === 1;
      collect(inner, document, path === '' ? name : `${path}.${name}`, always, found, depth + 1);
    }
  }
  for (const form of forms) {
    if (form['items'] !== undefined) collect(form['items'], document, `${path}[]`, true, found, depth + 1);
  }
}

/** The forms that a schema allows: references followed, unions opened, `allOf` parts merged. */
function formsOf(given: unknown, document: unknown, depth: number): JsonObject[] {
  if (!isSchemaObject(given) || depth > DEEPEST) return [{}];
  if (typeof given['$ref'] === 'string')
    return formsOf(resolve(given['$ref'], document), document, depth + 1);
  if (Array.isArray(given['allOf'])) {
    const parts = [given, ...given['allOf'].flatMap((part) => formsOf(part, document, depth + 1))];
    const properties = Object.assign({}, ...parts.map((part) => asObject(part['properties'])));
    const required = parts.flatMap((part) => (Array.isArray(part['required']) ? part['required'] : []));
    const whole = Object.assign({}, ...parts, { properties, required });
    delete whole.allOf;
    return [whole];
  }
  const options = given['anyOf'] ?? given['oneOf'];
  if (Array.isArray(options)) {
    const forms = options.flatMap((option) => formsOf(option, document, depth + 1));
    return given['nullable'] === true ? [...forms, { type: 'null' }] : forms;
  }
  return [given];
}

/** The JSON types of some forms; empty if one of them allows any type. */
function typesOf(forms: readonly JsonObject[]): string[] {
  const all = forms.map((form) => {
    const { type, nullable } = form;
    const named = Array.isArray(type) ? type.map(String) : typeof type === 'string' ? [type] : implied(form);
    return nullable === true && named.length > 0 ? [...named, 'null'] : named;
  });
  return all.some((types) => types.length === 0) ? [] : union([], all.flat());
}

/** The implied type of a form without `type`. */
function implied(form: JsonObject): string[] {
  if (isSchemaObject(form['properties'])) return ['object'];
  if (form['items'] !== undefined) return ['array'];
  const values = Array.isArray(form['enum']) ? form['enum'] : 'const' in form ? [form['const']] : [];
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

export const isSchemaObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const asObject = (value: unknown): JsonObject => (isSchemaObject(value) ? value : {});
