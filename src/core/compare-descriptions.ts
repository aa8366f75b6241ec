import { isRecord, type JsonObject } from '../base/json-object.ts';

/** A difference between the API description that the service publishes and the one built into trdr. */
export interface ApiDifference {
  readonly what: 'endpoint' | 'parameter' | 'field';
  readonly how: 'added' | 'removed' | 'changed';
  /** The method and path of the call, such as `GET /v2/me`. */
  readonly call: string;
  readonly text: string;
  /** Whether the difference affects something that this version of trdr sends or reads. */
  readonly breaks: boolean;
}

/** An endpoint, a parameter, or a field of a body or an answer. */
interface Part extends Pick<ApiDifference, 'what' | 'call'> {
  /** What a text calls the part, such as `answer 200: items[].id`; empty for an endpoint. */
  readonly name: string;
  /** The path of the part that contains this one. */
  readonly parent?: string;
  /** Sorted JSON types; empty if any type is allowed. */
  readonly types: readonly string[];
  readonly required: boolean;
  /** Whether trdr sends the part, cannot read the answer without it, or only prints it. */
  readonly use: 'sent' | 'needed' | 'printed';
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
/** The fields of an answer without which trdr cannot read it: the answer itself, and the list of its records. */
const NEEDED: readonly string[] = ['', 'items', 'entries'];
/** Maximum nesting. Deeper schemas are recursive or not relevant. */
const DEEPEST = 8;

/**
 * Compares two OpenAPI documents: `ours` from this version of trdr, `theirs` from the service. Lists the
 * endpoints, parameters and fields that `theirs` adds, lacks or describes differently. Parts that do not affect
 * trdr (errors, texts, examples) and the paths in `ignored` are not compared.
 */
export function compareDescriptions(
  ours: unknown,
  theirs: unknown,
  ignored: readonly string[] = [],
): ApiDifference[] {
  const [known, present] = [flatten(ours, ignored), flatten(theirs, ignored)];
  const differences: ApiDifference[] = [];
  const report = ({ what, call, name }: Part, how: ApiDifference['how'], text: string, breaks: boolean) =>
    differences.push({ what, how, call, text: `${name} ${text}`.trim(), breaks });
  // Of a part that was added or removed, only the outermost one is reported. A part of any type may contain every
  // other part, although the description does not list them.
  const isListedIn = (parts: ReadonlyMap<string, Part>, { parent }: Part) =>
    parent === undefined || (parts.get(parent)?.types.length ?? 0) > 0;
  for (const [path, part] of known) {
    const other = present.get(path);
    const [isSent, isNeeded] = [part.use === 'sent', part.use === 'needed'];
    if (!other) {
      if (isListedIn(present, part))
        report(part, 'removed', 'was removed', isSent || (isNeeded && part.required));
    } else if (isOther(part, other)) {
      const breaks = isSent ? !accepts(other, part) : isNeeded && !accepts(part, other);
      report(part, 'changed', `is ${typeText(other)}, was ${typeText(part)}`, breaks);
    } else if (isSent && !part.required && other.required) report(part, 'changed', 'is now required', true);
    else if (!isSent && part.required && !other.required)
      report(part, 'changed', 'may now be absent', isNeeded);
  }
  for (const [path, part] of present) {
    if (known.has(path) || !isListedIn(known, part)) continue;
    const isRequired = part.use === 'sent' && part.required;
    const detail = isRequired ? ', and required' : part.what === 'field' ? ` (${typeText(part)})` : '';
    report(part, 'added', `is new${detail}`, isRequired);
  }
  return differences;
}

/** The parts of a document by path. The names of path parameters are omitted, because they may differ. */
function flatten(document: unknown, ignored: readonly string[]): Map<string, Part> {
  const parts = new Map<string, Part>();
  for (const [path, item] of Object.entries(asObject(asObject(document)['paths']))) {
    for (const method of METHODS) {
      const operation = asObject(item)[method];
      if (!isRecord(operation) || ignored.includes(path)) continue;
      const call = `${method.toUpperCase()} ${path}`;
      const parent = call.replace(/\{[^}]*\}/g, '{}');
      parts.set(parent, {
        what: 'endpoint',
        call,
        name: '',
        types: ['object'],
        required: false,
        use: 'sent',
      });
      let position = 0;
      for (const given of [...list(asObject(item)['parameters']), ...list(operation['parameters'])]) {
        const parameter = resolved(given, document);
        const where = parameter['in'];
        if (where !== 'query' && where !== 'path') continue;
        const name = `${where} parameter ${where === 'path' ? ++position : String(parameter['name'])}`;
        const types = typesOf(alternativesOf(parameter['schema'] ?? parameter, document));
        const required = parameter['required'] === true;
        parts.set(`${parent} ${name}`, {
          what: 'parameter',
          call,
          name,
          parent,
          types,
          required,
          use: 'sent',
        });
      }
      const add = (place: string, schema: unknown, isSent: boolean) =>
        addFields(parts, document, schema, { call, endpoint: parent, place, isSent });
      const body = contentOf(operation['requestBody'], document);
      if (body !== undefined) add('body', body, true);
      for (const [status, answer] of Object.entries(asObject(operation['responses'])))
        if (/^2\d\d$/.test(status))
          add(`answer ${status}`, bare(contentOf(answer, document), document), false);
    }
  }
  return parts;
}

/** Adds the fields of a body or an answer. */
function addFields(
  parts: Map<string, Part>,
  document: unknown,
  schema: unknown,
  { call, endpoint, place, isSent }: Record<'call' | 'endpoint' | 'place', string> & { isSent: boolean },
): void {
  const collect = (given: unknown, path: string, parent: string, isRequired: boolean, depth: number) => {
    if (depth > DEEPEST) return;
    const alternatives = alternativesOf(given, document);
    const name = path === '' ? place : `${place}: ${path}`;
    const key = `${endpoint} ${name}`;
    const known = parts.get(key);
    const own = typesOf(alternatives);
    const types =
      known && (known.types.length === 0 || own.length === 0) ? [] : union(known?.types ?? [], own);
    const required = isRequired && (known?.required ?? true);
    const use = isSent ? 'sent' : NEEDED.includes(path) ? 'needed' : 'printed';
    parts.set(key, { what: 'field', call, name, parent, types, required, use });
    for (const alternative of alternatives) {
      for (const [member, inner] of Object.entries(asObject(alternative['properties']))) {
        // With several alternatives, every field counts as optional, because another alternative may lack the field.
        const always = alternatives.length === 1 && list(alternative['required']).includes(member);
        collect(inner, path === '' ? member : `${path}.${member}`, key, always, depth + 1);
      }
      if (alternative['items'] !== undefined)
        collect(alternative['items'], `${path}[]`, key, true, depth + 1);
    }
  };
  collect(schema, '', endpoint, false, 0);
}

/**
 * The alternatives that a schema allows: references are followed, unions are split, `allOf` parts are merged.
 */
function alternativesOf(given: unknown, document: unknown, depth = 0): JsonObject[] {
  if (!isRecord(given) || depth > DEEPEST) return [{}];
  if (typeof given['$ref'] === 'string')
    return alternativesOf(resolved(given, document), document, depth + 1);
  if (Array.isArray(given['allOf'])) {
    const { allOf, ...rest } = given;
    const merged = [rest, ...given['allOf'].flatMap((part) => alternativesOf(part, document, depth + 1))];
    const properties = Object.assign({}, ...merged.map((part) => asObject(part['properties'])));
    const required = merged.flatMap((part) => list(part['required']));
    return [Object.assign({}, ...merged, { properties, required })];
  }
  const options = given['anyOf'] ?? given['oneOf'];
  if (!Array.isArray(options)) return [given];
  const alternatives = options.flatMap((option) => alternativesOf(option, document, depth + 1));
  return given['nullable'] === true ? [...alternatives, { type: 'null' }] : alternatives;
}

/** The JSON types of several alternatives; empty if one of them allows any type. */
function typesOf(alternatives: readonly JsonObject[]): string[] {
  const all = alternatives.map((alternative) => {
    const { type } = alternative;
    const named = type === undefined ? impliedTypes(alternative) : [type].flat().map(String);
    return alternative['nullable'] === true && named.length > 0 ? [...named, 'null'] : named;
  });
  return all.some((types) => types.length === 0) ? [] : union([], all.flat());
}

/** The types of a schema that has no `type`, derived from its other members: `properties` implies an object. */
function impliedTypes(alternative: JsonObject): string[] {
  if (isRecord(alternative['properties'])) return ['object'];
  return alternative['items'] === undefined ? [] : ['array'];
}

/** The schema inside an envelope of data and meta, or the schema itself. */
function bare(schema: unknown, document: unknown): unknown {
  const properties = asObject(resolved(schema, document)['properties']);
  return 'data' in properties && 'meta' in properties ? properties['data'] : schema;
}

const contentOf = (given: unknown, document: unknown): unknown => {
  const content = asObject(resolved(given, document)['content']);
  return asObject(content['application/json'] ?? Object.values(content)[0])['schema'];
};

/** An object of the document, or the object that it refers to. */
function resolved(given: unknown, document: unknown): JsonObject {
  const ref = asObject(given)['$ref'];
  if (typeof ref !== 'string') return asObject(given);
  // A reference is a path such as `#/components/schemas/Me`.
  const [, ...names] = ref.split('/');
  return asObject(names.reduce<unknown>((at, name) => asObject(at)[name], document));
}

const asObject = (value: unknown): JsonObject => (isRecord(value) ? value : {});
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const union = (a: readonly string[], b: readonly string[]) => [...new Set([...a, ...b])].sort();

const typeText = ({ types }: Part) => (types.length === 0 ? 'anything' : types.join(' or '));

/** Whether two parts have different types. A part that allows any type counts as equal to every other part. */
const isOther = ({ types: ours }: Part, { types: theirs }: Part) =>
  ours.length > 0 && theirs.length > 0 && ours.join() !== theirs.join();

/** Whether a reader of one part accepts every type of another. */
const accepts = (reader: Part, { types }: Part) =>
  types.every(
    (type) => reader.types.includes(type) || (type === 'integer' && reader.types.includes('number')),
  );
