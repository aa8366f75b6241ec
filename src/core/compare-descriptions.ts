import { isRecord, type JsonObject } from '../base/json-object.ts';

export interface ApiDifference {
  /** `GET /v2/thesis: query parameter limit`. */
  readonly path: string;
  /** What this version of trdr expects, as `integer or absent`; undefined if nothing. */
  readonly described: string | undefined;
  readonly found: string | undefined;
  /** Whether it affects something that this version of trdr sends or reads. */
  readonly breaks: boolean;
}

interface Part {
  /** `GET /v2/me: answer 200: items[].id`. */
  readonly path: string;
  readonly outer?: string;
  /** Sorted names of types; ANY if any type is allowed, ABSENT if it may be left out. */
  readonly types: readonly string[];
  /** Whether trdr sends the part, cannot read the answer without it, or only prints it. */
  readonly use: 'sent' | 'needed' | 'printed';
}

const ANY = 'anything';
const ABSENT = 'absent';
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
/**
 * The parts without which trdr cannot read an answer: the answer itself, and the list of its
 * records.
 */
const NEEDED: readonly string[] = ['', 'items', 'entries'];
const DEEPEST = 8;

/**
 * Compares two OpenAPI documents, of which `ours` is from this version of trdr. Errors, texts,
 * examples and `ignored` paths are not compared.
 */
export function compareDescriptions(
  ours: unknown,
  theirs: unknown,
  ignored: readonly string[],
): ApiDifference[] {
  const expected = partsOf(ours, ignored);
  const present = partsOf(theirs, ignored);
  // Report only the outermost part that was added or removed. A part of any type may contain every
  // other part.
  const isListedIn = (parts: ReadonlyMap<string, Part>, { outer }: Part) =>
    outer === undefined || parts.get(outer)?.types.includes(ANY) === false;
  return [...new Set([...expected.keys(), ...present.keys()])].flatMap((key): ApiDifference[] => {
    const part = expected.get(key);
    const other = present.get(key);
    const path = part?.path ?? other?.path ?? key;
    const difference = { path, described: typeText(part), found: typeText(other) };
    if (part && other) {
      const isSent = part.use === 'sent';
      const isSafe = isSent ? accepts(other, part) : accepts(part, other);
      return isSafe ? [] : [{ ...difference, breaks: part.use !== 'printed' }];
    }
    if (part && isListedIn(present, part)) return [{ ...difference, breaks: isRelied(part) }];
    if (!other || !isListedIn(expected, other)) return [];
    // A new endpoint is not needed.
    return [{ ...difference, breaks: other.outer !== undefined && isDemanded(other) }];
  });
}

/** Whether trdr relies on a part that is not there any more. */
const isRelied = ({ use, types }: Part): boolean =>
  use === 'sent' || (use === 'needed' && !types.includes(ABSENT));

/** Whether a call fails without a part that this version of trdr does not know. */
const isDemanded = ({ use, types }: Part): boolean => use === 'sent' && !types.includes(ABSENT);

const useOf = (path: string): Part['use'] => (NEEDED.includes(path) ? 'needed' : 'printed');

/**
 * The parts of a description by their paths, without the names of path parameters, because they may
 * differ.
 */
function partsOf(document: unknown, ignored: readonly string[]): Map<string, Part> {
  const parts = new Map<string, Part>();
  for (const [path, item] of Object.entries(asObject(asObject(document)['paths']))) {
    for (const method of METHODS) {
      const operation = asObject(item)[method];
      if (!isRecord(operation) || ignored.includes(path)) continue;
      const call = `${method.toUpperCase()} ${path}`;
      const outer = call.replace(/\{[^}]*\}/g, '{}');
      parts.set(outer, { path: call, types: ['endpoint'], use: 'sent' });
      let position = 0;
      for (const node of [
        ...list(asObject(item)['parameters']),
        ...list(operation['parameters']),
      ]) {
        const parameter = resolved(node, document);
        const where = parameter['in'];
        if (where !== 'query' && where !== 'path') continue;
        const name = `${where} parameter ${where === 'path' ? ++position : String(parameter['name'])}`;
        const own = typesOf(alternativesOf(parameter['schema'] ?? parameter, document));
        const types = parameter['required'] === true ? own : union(own, [ABSENT]);
        parts.set(`${outer} ${name}`, { path: `${call}: ${name}`, outer, types, use: 'sent' });
      }
      const body = contentOf(operation['requestBody'], document);
      if (body !== undefined) addFields(parts, document, body, { call, outer, place: 'body' });
      for (const [status, answer] of Object.entries(asObject(operation['responses']))) {
        if (!/^2\d\d$/.test(status)) continue;
        const schema = bare(contentOf(answer, document), document);
        addFields(parts, document, schema, { call, outer, place: `answer ${status}` });
      }
    }
  }
  return parts;
}

function addFields(
  parts: Map<string, Part>,
  document: unknown,
  schema: unknown,
  { call, outer: endpoint, place }: Record<'call' | 'outer' | 'place', string>,
): void {
  const collect = (
    node: unknown,
    path: string,
    outer: string,
    isRequired: boolean,
    depth: number,
  ) => {
    if (depth > DEEPEST) return;
    const alternatives = alternativesOf(node, document);
    const name = path === '' ? place : `${place}: ${path}`;
    const key = `${endpoint} ${name}`;
    const before = parts.get(key)?.types ?? [];
    const own = typesOf(alternatives);
    const types = union(before, isRequired ? own : [...own, ABSENT]);
    const use = place === 'body' ? 'sent' : useOf(path);
    parts.set(key, { path: `${call}: ${name}`, outer, types, use });
    for (const alternative of alternatives) {
      for (const [member, inner] of Object.entries(asObject(alternative['properties']))) {
        // Another alternative may lack the field.
        const always = alternatives.length === 1 && list(alternative['required']).includes(member);
        collect(inner, path === '' ? member : `${path}.${member}`, key, always, depth + 1);
      }
      if (alternative['items'] !== undefined)
        collect(alternative['items'], `${path}[]`, key, true, depth + 1);
    }
  };
  collect(schema, '', endpoint, false, 0);
}

/** References are followed, unions are split, `allOf` parts are merged. */
function alternativesOf(node: unknown, document: unknown, depth = 0): JsonObject[] {
  if (!isRecord(node) || depth > DEEPEST) return [{}];
  if (typeof node['$ref'] === 'string')
    return alternativesOf(resolved(node, document), document, depth + 1);
  if (Array.isArray(node['allOf'])) {
    const { allOf, ...rest } = node;
    const merged = [
      rest,
      ...node['allOf'].flatMap((part) => alternativesOf(part, document, depth + 1)),
    ];
    const properties = Object.assign({}, ...merged.map((part) => asObject(part['properties'])));
    const required = merged.flatMap((part) => list(part['required']));
    return [Object.assign({}, ...merged, { properties, required })];
  }
  const options = node['anyOf'] ?? node['oneOf'];
  if (!Array.isArray(options)) return [node];
  const alternatives = options.flatMap((option) => alternativesOf(option, document, depth + 1));
  return node['nullable'] === true ? [...alternatives, { type: 'null' }] : alternatives;
}

function typesOf(alternatives: readonly JsonObject[]): string[] {
  const all = alternatives.map((alternative) => {
    const { type } = alternative;
    const named = type === undefined ? impliedTypes(alternative) : [type].flat().map(String);
    return alternative['nullable'] === true && named.length > 0 ? [...named, 'null'] : named;
  });
  return all.some((types) => types.length === 0) ? [ANY] : union([], all.flat());
}

/** `properties` implies an object. */
function impliedTypes(alternative: JsonObject): string[] {
  if (isRecord(alternative['properties'])) return ['object'];
  return alternative['items'] === undefined ? [] : ['array'];
}

function bare(schema: unknown, document: unknown): unknown {
  const properties = asObject(resolved(schema, document)['properties']);
  return 'data' in properties && 'meta' in properties ? properties['data'] : schema;
}

const contentOf = (node: unknown, document: unknown): unknown => {
  const content = asObject(resolved(node, document)['content']);
  return asObject(content['application/json'] ?? Object.values(content)[0])['schema'];
};

function resolved(node: unknown, document: unknown): JsonObject {
  const ref = asObject(node)['$ref'];
  if (typeof ref !== 'string') return asObject(node);
  // Such as `#/components/schemas/Me`.
  const [, ...names] = ref.split('/');
  return asObject(names.reduce<unknown>((at, name) => asObject(at)[name], document));
}

const asObject = (value: unknown): JsonObject => (isRecord(value) ? value : {});
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const union = (a: readonly string[], b: readonly string[]) => [...new Set([...a, ...b])].sort();

function typeText(part: Part | undefined): string | undefined {
  if (!part || part.types.includes(ANY)) return part && ANY;
  const named = part.types.filter((type) => type !== ABSENT);
  return [...named, ...part.types.filter((type) => type === ABSENT)].join(' or ');
}

/** A part that allows any type is accepted by every other part, and accepts it. */
const accepts = (reader: Part, { types }: Part): boolean =>
  [...reader.types, ...types].includes(ANY) ||
  types.every(
    (type) =>
      reader.types.includes(type) || (type === 'integer' && reader.types.includes('number')),
  );
