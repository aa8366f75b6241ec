import { isRecord } from '../base/json-object.ts';
import { asObject, type DescribedField, describedFields } from './description-fields.ts';

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

interface Operation {
  readonly call: string;
  readonly node: unknown;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/**
 * Compares two OpenAPI documents: `theirs` from the service, `ours` from this version of trdr. Lists the
 * endpoints, parameters and fields that `theirs` adds, lacks or describes differently. Parts that do not affect
 * trdr (errors, texts, examples) and the paths in `ignored` are not compared.
 */
export function compareDescriptions(
  ours: unknown,
  theirs: unknown,
  ignored: readonly string[] = [],
): ApiDifference[] {
  const [known, present] = [operationsOf(ours), operationsOf(theirs)];
  const skip = (key: string) => ignored.some((path) => key.endsWith(` ${path}`));
  const differences: ApiDifference[] = [];
  for (const [key, mine] of known) {
    if (skip(key)) continue;
    const their = present.get(key);
    const { call } = mine;
    if (!their)
      differences.push({ what: 'endpoint', how: 'removed', call, text: 'was removed', breaks: true });
    else {
      differences.push(...parameters(call, ours, mine.node, theirs, their.node));
      differences.push(...bodies(call, ours, mine.node, theirs, their.node));
    }
  }
  for (const [key, { call }] of present) {
    if (known.has(key) || skip(key)) continue;
    differences.push({ what: 'endpoint', how: 'added', call, text: 'is new', breaks: false });
  }
  return differences;
}

/** The operations by method and path; the names of path parameters are removed. */
function operationsOf(document: unknown): Map<string, Operation> {
  const found = new Map<string, Operation>();
  for (const [path, item] of Object.entries(asObject(asObject(document)['paths']))) {
    for (const method of METHODS) {
      const operation = asObject(item)[method];
      if (!isRecord(operation)) continue;
      const shared = list(asObject(item)['parameters']);
      const node = { ...operation, parameters: [...shared, ...list(operation['parameters'])] };
      const key = `${method.toUpperCase()} ${path.replace(/\{[^}]*\}/g, '{}')}`;
      found.set(key, { call: `${method.toUpperCase()} ${path}`, node });
    }
  }
  return found;
}

function parameters(
  call: string,
  ours: unknown,
  mine: unknown,
  theirs: unknown,
  their: unknown,
): ApiDifference[] {
  const [known, present] = [parametersOf(mine, ours), parametersOf(their, theirs)];
  const differences: ApiDifference[] = [];
  const add = (how: ApiDifference['how'], text: string, breaks: boolean) =>
    differences.push({ what: 'parameter', how, call, text, breaks });
  for (const [key, field] of known) {
    const other = present.get(key);
    if (!other) add('removed', `${key} was removed`, true);
    else if (isOther(field, other))
      add('changed', `${key} is ${typeText(other)}, was ${typeText(field)}`, true);
    else if (!field.required && other.required) add('changed', `${key} is now required`, true);
  }
  for (const [key, { required }] of present) {
    if (!known.has(key)) add('added', `${key} is new${required ? ', and required' : ''}`, required);
  }
  return differences;
}

/**
 * Parameters by location and name. Path parameters are matched by position, because their names may differ.
 */
function parametersOf(node: unknown, document: unknown): Map<string, DescribedField> {
  const found = new Map<string, DescribedField>();
  let place = 0;
  for (const given of list(asObject(node)['parameters'])) {
    const parameter = asObject(deref(given, document));
    const where = parameter['in'];
    if (where !== 'query' && where !== 'path') continue;
    const field = describedFields(parameter['schema'] ?? parameter, document).get('') ?? {
      types: [],
      required: false,
    };
    const name =
      where === 'path' ? `path parameter ${++place}` : `query parameter ${String(parameter['name'])}`;
    found.set(name, { types: field.types, required: parameter['required'] === true });
  }
  return found;
}

function bodies(
  call: string,
  ours: unknown,
  mine: unknown,
  theirs: unknown,
  their: unknown,
): ApiDifference[] {
  const sent = (node: unknown, document: unknown) => contentOf(asObject(node)['requestBody'], document);
  const differences = fields(call, 'body', ours, sent(mine, ours), theirs, sent(their, theirs));
  const answers = asObject(asObject(mine)['responses']);
  for (const status of Object.keys(answers).filter((each) => /^2\d\d$/.test(each))) {
    const other = asObject(asObject(their)['responses'])[status];
    if (other === undefined) {
      differences.push({
        what: 'field',
        how: 'removed',
        call,
        text: `the answer with status ${status} was removed`,
        breaks: false,
      });
      continue;
    }
    const [own, their200] = [contentOf(answers[status], ours), contentOf(other, theirs)];
    const place = `answer ${status}`;
    differences.push(...fields(call, place, ours, bare(own, ours), theirs, bare(their200, theirs)));
  }
  return differences;
}

function fields(
  call: string,
  place: string,
  ours: unknown,
  mine: unknown,
  theirs: unknown,
  their: unknown,
): ApiDifference[] {
  if (mine === undefined && their === undefined) return [];
  const [known, present] = [describedFields(mine ?? {}, ours), describedFields(their ?? {}, theirs)];
  const differences: ApiDifference[] = [];
  const add = (how: ApiDifference['how'], text: string, breaks: boolean) =>
    differences.push({ what: 'field', how, call, text: `${place}: ${text}`, breaks });
  const matters = (path: string) => place === 'body' || isStructure(path);
  for (const [path, field] of known) {
    const other = present.get(path);
    const name = path === '' ? 'the whole record' : path;
    if (!other) {
      // Report a removed field only if its parent still exists; otherwise, the parent is reported. Do not
      // report it if the parent may now have any type, because the parent may still contain the field.
      const parent = present.get(parentOf(path));
      if (parent && (parent.types.length > 0 || hasChildren(present, parentOf(path)))) {
        add('removed', `${name} was removed`, field.required && matters(path));
      }
    } else if (isOther(field, other)) {
      add(
        'changed',
        `${name} is ${typeText(other)}, was ${typeText(field)}`,
        matters(path) && isNarrower(field, other),
      );
    } else if (field.required && !other.required) {
      add('changed', `${name} may now be absent`, matters(path));
    }
  }
  for (const [path, { types }] of present) {
    const parent = known.get(parentOf(path));
    if (!known.has(path) && parent && parent.types.length > 0) {
      add('added', `${path} is new (${typeText({ types })})`, false);
    }
  }
  return differences;
}

/** True for a field without which trdr cannot read the answer. */
const isStructure = (path: string) => ['', 'items', 'entries'].includes(path);

/** The schema inside an envelope of data and meta, or the schema itself. */
function bare(schema: unknown, document: unknown): unknown {
  const properties = asObject(asObject(deref(schema, document))['properties']);
  return 'data' in properties && 'meta' in properties ? properties['data'] : schema;
}

const contentOf = (given: unknown, document: unknown): unknown => {
  const content = asObject(asObject(deref(given, document))['content']);
  return asObject(content['application/json'] ?? Object.values(content)[0])['schema'];
};

const deref = (given: unknown, document: unknown): unknown => {
  const ref = asObject(given)['$ref'];
  if (typeof ref !== 'string' || !ref.startsWith('#/')) return given;
  return ref
    .slice(2)
    .split('/')
    .reduce<unknown>((at, part) => asObject(at)[part], document);
};

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const parentOf = (path: string) => path.replace(/(\[\]|\.?[^.[\]]+)$/, '');
const hasChildren = (fields: ReadonlyMap<string, DescribedField>, path: string) =>
  [...fields.keys()].some((key) => key !== path && parentOf(key) === path);

type Types = Pick<DescribedField, 'types'>;
const typeText = ({ types }: Types) => (types.length === 0 ? 'anything' : types.join(' or '));

/**
 * Whether two fields have different types. A field that allows any type counts as equal to every other field.
 */
function isOther(ours: Types, theirs: Types): boolean {
  if (ours.types.length === 0 || theirs.types.length === 0) return false;
  return ours.types.join() !== theirs.types.join();
}

/** Whether the service may send a type that trdr does not accept. */
const isNarrower = (ours: Types, theirs: Types) =>
  theirs.types.some(
    (type) => !ours.types.includes(type) && !(type === 'integer' && ours.types.includes('number')),
  );
