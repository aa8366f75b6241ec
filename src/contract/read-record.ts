// Importing z.core would bundle all of zod, including its error messages in every language.
import { type $ZodType, type output, safeParse } from 'zod/v4/core';
import { isNumber, isRecord, type JsonObject } from '../base/json-object.ts';

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
  isNumber(value) ? value : undefined;
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
/** The objects of a list; other items are skipped. */
export const recordsOf = (value: unknown): Sent[] => listOf(value).filter(isRecord);

const DIGITS = /^\d{10,15}$/;
const DATE = /^\d{4}-\d\d-\d\d/;
/** The end of a time with an offset, or of a date without a time. */
const OFFSET = /(?:Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)$/i;

/**
 * A number outside of these is not a time in milliseconds, but for example one in seconds or in
 * microseconds: no post is from before 2001, or from after 5138.
 */
const [EARLIEST_MS, LATEST_MS] = [1e12, 1e14];

/** A time, given as a number or as text, in epoch ms; null if it cannot be read. */
export function postTimeOf(value: unknown): number | null {
  const at = typeof value === 'string' ? textTime(value) : value;
  return typeof at === 'number' && at >= EARLIEST_MS && at < LATEST_MS ? at : null;
}

/** A time of a thesis that is not its post time: a number, or a text as --times iso writes it. */
const thesisTimeOf = (value: unknown): number | undefined =>
  numberOf(value) ?? postTimeOf(value) ?? undefined;

/** When this version of a thesis was written. */
export const writtenAt = (post: Sent): number =>
  thesisTimeOf(post['updatedAt']) ?? postTimeOf(post['platformCreatedAt']) ?? 0;

/** When the position of a thesis was closed: null while it is open, undefined if not known. */
export const closedAtOf = ({ closedAt }: Sent): number | null | undefined =>
  closedAt === null ? null : thesisTimeOf(closedAt);

const textTime = (text: string): number | undefined => {
  if (DIGITS.test(text)) return Number(text);
  if (!DATE.test(text)) return undefined;
  // Without an offset, a text would be another time on a machine in another zone.
  return Date.parse(OFFSET.test(text) ? text : `${text}Z`);
};

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
