import { isRecord } from '../base/json-object.ts';
import type { Sent } from './read-record.ts';

/**
 * A type of record that an answer can contain: its name, and functions that recognize it by its
 * characteristic fields.
 */
interface Described {
  readonly name: string;
  readonly fits: (record: Sent) => boolean;
  /**
   * Whether an object is the record itself and not an envelope around it. If this function is absent, every
   * object that fits is the record itself.
   */
  readonly isCertain?: (record: Sent) => boolean;
}

const has = (record: Sent, ...fields: readonly string[]): boolean =>
  fields.some((field) => Object.hasOwn(record, field) && record[field] !== null);
/** Whether a field is a list. Null counts as a list, because the service may send null for an empty list. */
const hasList = (record: Sent, field: string): boolean =>
  Object.hasOwn(record, field) && (Array.isArray(record[field]) || record[field] === null);

/**
 * The types of records that the service sends. A record is recognized by any one of the fields listed for its
 * type; an answer of the type `me` or `pending` can be any object. A record that differs from the description
 * in other ways, for example by a missing field, is reported but accepted.
 */
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

interface Unwrapped {
  readonly record: Sent;
  readonly meta: unknown;
}

/**
 * Returns the record of an answer, which is either the answer itself or its `data`; undefined if neither is a
 * record of this type. If both are, the answer itself is the record, unless `meta` is next to `data` or
 * `isCertain` rejects the answer itself.
 */
export function recognize(name: RecordType, body: unknown): Unwrapped | undefined {
  if (!isRecord(body)) return undefined;
  const type: Described = recordTypes[name];
  const { data } = body;
  const isBare = type.isCertain ?? type.fits;
  if (isRecord(data) && type.fits(data) && (Object.hasOwn(body, 'meta') || !isBare(body))) {
    return { record: data, meta: body['meta'] };
  }
  return type.fits(body) ? { record: body, meta: undefined } : undefined;
}
