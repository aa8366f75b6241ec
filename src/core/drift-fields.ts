type Bag = Readonly<Record<string, unknown>>;

/** A field as one document has it: its types, and whether it is always there. */
export interface FieldForm {
  /** Sorted JSON types; empty where anything may stand. */
  readonly types: readonly string[];
  readonly required: boolean;
}

/** Below this a schema leads back to itself, or says nothing that anybody reads. */
const DEEPEST = 8;

/** The fields of a schema by their paths: `items[].id`, `usage.unitsUsed`. References are followed. */
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
  const objects = forms.filter((form) => isObject(form['properties']));
  for (const form of objects) {
    const must = Array.isArray(form['required']) ? form['required'] : [];
    for (const [name, inner] of Object.entries(asObject(form['properties']))) {
      // A field that only some of the forms have may be missing.
      const always = must.includes(name) && forms.length === 1;
      collect(inner, document, path === '' ? name : `${path}.${name}`, always, found, depth + 1);
    }
  }
  for (const form of forms) {
    if (form['items'] !== undefined) collect(form['items'], document, `${path}[]`, true, found, depth + 1);
  }
}

/** A schema as the forms it may take: references followed, unions opened, parts of one put together. */
function formsOf(given: unknown, document: unknown, depth: number): Bag[] {
  if (!isObject(given) || depth > DEEPEST) return [{}];
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

/** The JSON types of some forms; none where one of them may be anything. */
function typesOf(forms: readonly Bag[]): string[] {
  const all = forms.map((form) => {
    const { type, nullable } = form;
    const named = Array.isArray(type) ? type.map(String) : typeof type === 'string' ? [type] : implied(form);
    return nullable === true && named.length > 0 ? [...named, 'null'] : named;
  });
  return all.some((types) => types.length === 0) ? [] : union([], all.flat());
}

/** The type of a form that does not name it. */
function implied(form: Bag): string[] {
  if (isObject(form['properties'])) return ['object'];
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

export const isObject = (value: unknown): value is Bag =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const asObject = (value: unknown): Bag => (isObject(value) ? value : {});
