import { isRecord, type Sent } from './read-record.ts';

/** A form of record that answers can hold: its name, and the fields by which it is recognized. */
interface Form {
  readonly name: string;
  readonly fits: (record: Sent) => boolean;
  /** Whether a matching record cannot also be an envelope. */
  readonly isCertain?: (record: Sent) => boolean;
}

const has = (record: Sent, ...fields: readonly string[]): boolean =>
  fields.some((field) => Object.hasOwn(record, field) && record[field] !== null);
/** An empty list may be sent as null. */
const hasList = (record: Sent, field: string): boolean =>
  Object.hasOwn(record, field) && (Array.isArray(record[field]) || record[field] === null);

/**
 * The record forms of the service. Each is recognized by the minimum that makes it worth delivering. Any
 * other difference from the description, such as a missing field, is reported but does not reject the
 * record.
 */
export const forms = {
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
} as const satisfies Record<string, Form>;

export type FormName = keyof typeof forms;

/** An answer without its envelope, if it had one. */
interface Unwrapped {
  readonly record: Sent;
  readonly meta: unknown;
}

/**
 * The record of an answer, bare or under `data`; undefined if the answer holds no record of this form. Both
 * readings can be possible: `data` holds the record if `meta` is next to it, or if the answer itself cannot
 * be a record of this form.
 */
export function recognize(name: FormName, body: unknown): Unwrapped | undefined {
  if (!isRecord(body)) return undefined;
  const form: Form = forms[name];
  const { data } = body;
  const isBare = form.isCertain ?? form.fits;
  if (isRecord(data) && form.fits(data) && (Object.hasOwn(body, 'meta') || !isBare(body))) {
    return { record: data, meta: body['meta'] };
  }
  return form.fits(body) ? { record: body, meta: undefined } : undefined;
}
