// Importing z.core would bundle all of zod, including its error messages in every language.
import {
  $ZodArray,
  $ZodBoolean,
  $ZodNullable,
  $ZodNumber,
  $ZodNumberFormat,
  $ZodObject,
  $ZodOptional,
  $ZodString,
  type $ZodType,
  $ZodUnknown,
  type output,
  safeParse,
} from 'zod/v4/core';
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

type Report = (difference: FieldDifference) => void;
type Reader = (value: unknown, field: string, report: Report) => unknown;

const ABSENT = Symbol('absent');
const ignore: Report = () => {};

/** Without fields and list items of another type. The same object if nothing is omitted. */
export function known<S extends $ZodType>(schema: S, sent: Sent, report: Report = ignore): Known<output<S>> {
  const read = readerOf(schema)(sent, '', report);
  // A reader returns only values of the type that its schema describes.
  return (read === ABSENT ? {} : read) as Known<output<S>>;
}

/** `rank is null, expected an integer`. */
export const differenceText = ({ field, expected, got }: FieldDifference): string =>
  `${field === '' ? 'the record' : field} is ${got}${got === 'missing' ? '' : `, expected ${expected}`}`;

export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const recordsOf = (value: unknown): Sent[] => listOf(value).filter(isRecord);

const readers = new WeakMap<$ZodType, Reader>();

function readerOf(schema: $ZodType): Reader {
  const made = readers.get(schema) ?? makeReader(schema);
  readers.set(schema, made);
  return made;
}

function makeReader(schema: $ZodType): Reader {
  if (schema instanceof $ZodOptional) return readerOf(schema._zod.def.innerType);
  if (schema instanceof $ZodNullable) {
    const inner = readerOf(schema._zod.def.innerType);
    return (value, field, report) => (value === null ? null : inner(value, field, report));
  }
  if (schema instanceof $ZodObject) return objectReader(schema);
  if (schema instanceof $ZodArray) return arrayReader(schema);
  if (schema instanceof $ZodUnknown) return (value) => value;
  if (schema instanceof $ZodNumberFormat) {
    return leaf('an integer', Number.isFinite, Number.isInteger);
  }
  if (schema instanceof $ZodNumber) return leaf('a number', Number.isFinite);
  if (schema instanceof $ZodString) return leaf('text', (value) => typeof value === 'string');
  if (schema instanceof $ZodBoolean) return leaf('true or false', (value) => typeof value === 'boolean');
  return leaf('a value of another type', (value) => safeParse(schema, value).success);
}

/** For values without members. A fraction in place of an integer is reported but not omitted. */
function leaf(
  expected: string,
  fits: (value: unknown) => boolean,
  isExact: (value: unknown) => boolean = () => true,
): Reader {
  return (value, field, report) => {
    if (!fits(value)) {
      report({ field, expected, got: typeText(value) });
      return ABSENT;
    }
    if (!isExact(value)) report({ field, expected, got: 'a fraction' });
    return value;
  };
}

function objectReader(schema: $ZodObject): Reader {
  const fields = Object.entries(schema._zod.def.shape).map(([name, inner]) => ({
    name,
    read: readerOf(inner),
    optional: inner instanceof $ZodOptional,
    expected: expectedOf(inner),
  }));
  return (value, field, report) => {
    if (!isRecord(value)) {
      report({ field, expected: 'an object', got: typeText(value) });
      return ABSENT;
    }
    let copy: Record<string, unknown> | undefined;
    for (const { name, read, optional, expected } of fields) {
      const path = field === '' ? name : `${field}.${name}`;
      const given = Object.hasOwn(value, name) ? value[name] : undefined;
      if (given === undefined) {
        if (!optional) report({ field: path, expected, got: 'missing' });
        continue;
      }
      const got = read(given, path, report);
      if (got === given) continue;
      copy ??= { ...value };
      if (got === ABSENT) delete copy[name];
      else copy[name] = got;
    }
    return copy ?? value;
  };
}

function arrayReader(schema: $ZodArray): Reader {
  const read = readerOf(schema._zod.def.element);
  return (value, field, report) => {
    if (!Array.isArray(value)) {
      report({ field, expected: 'a list', got: typeText(value) });
      return ABSENT;
    }
    const items = value.map((item: unknown) => read(item, `${field}[]`, report));
    const isSame = items.every((item, at) => item === value[at]);
    return isSame ? value : items.filter((item) => item !== ABSENT);
  };
}

function expectedOf(schema: $ZodType): string {
  let expected = '';
  readerOf(schema)(ABSENT, '', (difference) => {
    expected ||= difference.expected;
  });
  return expected;
}

function typeText(value: unknown): string {
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
  batch: { name: 'batch', fits: (record) => hasList(record, 'entries') || hasList(record, 'missing') },
  page: { name: 'page', fits: (record) => hasList(record, 'items') },
  board: { name: 'board', fits: (record) => hasList(record, 'entries') },
  launchpadUser: {
    name: 'launchpad user',
    fits: (record) => has(record, 'wallet', 'username', 'xUsername', 'id', 'handle'),
  },
  me: {
    name: 'account',
    fits: () => true,
    isCertain: (record) => has(record, 'usage', 'entitlement', 'ratePerMinute', 'plan', 'account', 'scopes'),
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
