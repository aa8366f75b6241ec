import { isRecord } from '../base/json-object.ts';
import type { Sent } from './read-record.ts';

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

interface Unwrapped {
  readonly record: Sent;
  readonly meta: unknown;
}

/** The answer or its `data`. If both fit, the answer, unless it has `meta` too or `isCertain` rejects it. */
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
