// Importing z.core would bundle all of zod, including its error messages in every language.
import { type $ZodType, type output, safeParse } from 'zod/v4/core';
import { isRecord, type JsonObject } from '../base/json-object.ts';

/** As the service sent it; its fields were not checked. */
export type Sent = JsonObject;

/** The fields that have the described type. Any may be absent. */
export type Known<T> = T extends readonly (infer Item)[]
  ? readonly Known<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]?: Known<T[Name]> | undefined }
    : T;

export interface FieldDifference {
  /** `windows.24h.rank`, `items[].likeCount`. */
  readonly field: string;
  /** `an integer`. */
  readonly expected: string;
  /** `missing`, `null`, `text`. */
  readonly got: string;
}

const words: Readonly<Record<string, string>> = {
  int: 'an integer',
  number: 'a number',
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

/** Without fields and list items of another type. The same object if nothing is omitted. */
export function known<S extends $ZodType>(
  schema: S,
  sent: Sent,
  report: (difference: FieldDifference) => void = () => {},
): Known<output<S>> {
  const omitted: (readonly PropertyKey[])[] = [];
  for (const issue of safeParse(schema, sent).error?.issues ?? []) {
    const { code, path } = issue;
    const given = valueAt(sent, path);
    // Only its size is not as described.
    if (code === 'too_big' || code === 'too_small') continue;
    const field = path
      .map((step) => (typeof step === 'number' ? '[]' : `.${String(step)}`))
      .join('');
    const expected =
      (code === 'invalid_type' && words[issue.expected]) || 'a value of another type';
    const isFraction =
      code === 'invalid_type' && issue.expected === 'int' && Number.isFinite(given);
    report({ field: field.slice(1), expected, got: isFraction ? 'a fraction' : typeText(given) });
    if (!isFraction) omitted.push(path);
  }
  const copy = omitted.length === 0 ? sent : structuredClone(sent);
  // From the end, so that the positions of other list items stay the same.
  for (const path of omitted.reverse()) {
    const [holder, last = ''] = [valueAt(copy, path.slice(0, -1)), path.at(-1)];
    if (Array.isArray(holder)) holder.splice(Number(last), 1);
    else if (isRecord(holder)) Reflect.deleteProperty(holder, last);
  }
  // All other fields have the type that the schema describes.
  return copy as Known<output<S>>;
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce(
    (inner, step) =>
      typeof inner === 'object' && inner !== null ? Reflect.get(inner, step) : undefined,
    value,
  );

/** `rank is null, expected an integer`. */
export const differenceText = ({ field, expected, got }: FieldDifference): string =>
  `${field === '' ? 'the record' : field} is ${got}${got === 'missing' ? '' : `, expected ${expected}`}`;

export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const recordsOf = (value: unknown): Sent[] => listOf(value).filter(isRecord);

function typeText(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  switch (typeof value) {
    case 'string':
      return 'text';
    case 'number':
      return Number.isFinite(value) ? 'a number' : 'a number that is too large';
    case 'boolean':
      return 'true or false';
    default:
      return 'an object';
  }
}

interface Described {
  readonly name: string;
  readonly fits: (record: Sent) => boolean;
  /** Whether an object is the record itself and not an envelope around it; by default, whether it fits. */
  readonly isCertain?: (record: Sent) => boolean;
}

const has = (record: Sent, ...fields: readonly string[]): boolean =>
  fields.some((field) => Object.hasOwn(record, field) && record[field] !== null);
/** The service may send null for an empty list. */
const hasList = (record: Sent, field: string): boolean =>
  Object.hasOwn(record, field) && (Array.isArray(record[field]) || record[field] === null);

/** By any one of its fields; `me` and `pending` can be any object. Other differences are accepted. */
export const recordTypes = {
  user: {
    name: 'user',
    fits: (record) => has(record, 'id', 'handle', 'solanaAddress', 'evmAddress'),
  },
  numbers: { name: 'numbers', fits: (record) => has(record, 'handle', 'windows') },
  batch: {
    name: 'batch',
    fits: (record) => hasList(record, 'entries') || hasList(record, 'missing'),
  },
  page: { name: 'page', fits: (record) => hasList(record, 'items') },
  board: { name: 'board', fits: (record) => hasList(record, 'entries') },
  launchpadUser: {
    name: 'launchpad user',
    fits: (record) => has(record, 'wallet', 'username', 'xUsername', 'id', 'handle'),
  },
  me: {
    name: 'account',
    fits: () => true,
    isCertain: (record) =>
      has(record, 'usage', 'entitlement', 'ratePerMinute', 'plan', 'account', 'scopes'),
  },
  pending: {
    name: 'pending',
    fits: () => true,
    isCertain: (record) => has(record, 'pending', 'reason', 'retryable'),
  },
} as const satisfies Record<string, Described>;

export type RecordType = keyof typeof recordTypes;

/** The answer or its `data`. If both fit, the answer, unless it has `meta` too or `isCertain` rejects it. */
export function recognize(name: RecordType, body: unknown) {
  if (!isRecord(body)) return undefined;
  const type: Described = recordTypes[name];
  const { data } = body;
  const isBare = type.isCertain ?? type.fits;
  if (isRecord(data) && type.fits(data) && (Object.hasOwn(body, 'meta') || !isBare(body))) {
    return { record: data, meta: body['meta'] };
  }
  return type.fits(body) ? { record: body, meta: undefined } : undefined;
}
