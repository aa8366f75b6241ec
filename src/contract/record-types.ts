import { isRecord } from '../base/json-object.ts';
import { recordsOf, type Sent } from './read-record.ts';

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
