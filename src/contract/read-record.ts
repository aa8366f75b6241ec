// Importing z.core would bundle all of zod, including its error messages in every language.
import { type $ZodType, type output, safeParse } from 'zod/v4/core';
import { isRecord, type JsonObject } from '../base/json-object.ts';

/** A record as the service sent it; its fields were not checked. */
export type Sent = JsonObject;

/** The fields of a record that have the described type. Any may be absent. */
export type Known<T> = T extends readonly (infer Item)[]
  ? readonly Known<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]?: Known<T[Name]> | undefined }
    : T;

/** A field that differs from the service description. */
export interface FieldDifference {
  /** The dotted path: `windows.24h.rank`, `items[].likeCount`. */
  readonly field: string;
  /** The described type: `an integer`. */
  readonly expected: string;
  /** What was sent instead: `missing`, `null`, `text`. */
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

/**
 * Reads a record tolerantly: omits fields and list items of another type than described, and keeps
 * all others, also undocumented ones. Returns the same object if nothing is omitted.
 */
export function known<S extends $ZodType>(
  schema: S,
  sent: Sent,
  report: (difference: FieldDifference) => void = () => {},
): Known<output<S>> {
  const omitted: (readonly PropertyKey[])[] = [];
  for (const issue of safeParse(schema, sent).error?.issues ?? []) {
    const { code, path } = issue;
    // Only the size of the value is not as described.
    if (code === 'too_big' || code === 'too_small') continue;
    const value = valueAt(sent, path);
    const field = path
      .map((step) => (typeof step === 'number' ? '[]' : `.${String(step)}`))
      .join('');
    const expected =
      (code === 'invalid_type' && words[issue.expected]) || 'a value of another type';
    const isFraction =
      code === 'invalid_type' && issue.expected === 'int' && Number.isFinite(value);
    report({ field: field.slice(1), expected, got: isFraction ? 'a fraction' : typeText(value) });
    if (!isFraction) omitted.push(path);
  }
  const copy = omitted.length === 0 ? sent : structuredClone(sent);
  // From the end, so that the positions of other list items stay the same.
  for (const path of omitted.reverse()) {
    const holder = valueAt(copy, path.slice(0, -1));
    const last = path.at(-1) ?? '';
    if (Array.isArray(holder)) holder.splice(Number(last), 1);
    else if (isRecord(holder)) Reflect.deleteProperty(holder, last);
  }
  // This cast is safe: all other fields have the type that the schema describes.
  return copy as Known<output<S>>;
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce(
    (inner, step) =>
      typeof inner === 'object' && inner !== null ? Reflect.get(inner, step) : undefined,
    value,
  );

/** A difference as text: `rank is null, expected an integer`. */
export const differenceText = ({ field, expected, got }: FieldDifference): string =>
  `${field === '' ? 'the record' : field} is ${got}${got === 'missing' ? '' : `, expected ${expected}`}`;

export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
/** The objects of a list; other items are skipped. */
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

/** A type of record: its name, and how it is recognized by its characteristic fields. */
interface Described {
  readonly name: string;
  readonly fits: (record: Sent) => boolean;
  /**
   * Whether an object is the record itself and not an envelope around it; by default, whether it
   * fits.
   */
  readonly isCertain?: (record: Sent) => boolean;
}

const has = (record: Sent, ...fields: readonly string[]): boolean =>
  fields.some((field) => Object.hasOwn(record, field) && record[field] !== null);
/** Null counts as a list, because the service may send it for an empty one. */
const hasList = (record: Sent, field: string): boolean =>
  Object.hasOwn(record, field) && (Array.isArray(record[field]) || record[field] === null);

/**
 * The types of records that the service sends. A record is recognized by any one of its fields, so
 * that one with other differences is still read; `me` and `pending` can be any object.
 */
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

/**
 * Each row says when it was observed, because it is printed without the envelope; a time of its own
 * stays.
 */
export function stampRows(record: Sent, asOf: string): void {
  const rows = [...recordsOf(record['items']), ...recordsOf(record['entries'])];
  for (const row of [record, ...rows]) {
    if (!Object.hasOwn(row, 'asOf')) Object.assign(row, { asOf });
  }
}

/**
 * The record of an answer, which is the answer itself or its `data`. If both fit, it is the answer,
 * unless that has `meta` too or `isCertain` rejects it. Undefined if neither fits.
 */
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
