import { isRecord, type Sent } from './known.ts';

/** A record that answers can hold: how it is called, and how it is recognised, whatever else differs. */
interface Form {
  readonly name: string;
  readonly fits: (record: Sent) => boolean;
  /** Whether a record that fits cannot be an envelope as well. */
  readonly isCertain?: (record: Sent) => boolean;
}

const has = (record: Sent, ...fields: readonly string[]): boolean =>
  fields.some((field) => Object.hasOwn(record, field) && record[field] !== null);
/** A list may be null where it is empty. */
const hasList = (record: Sent, field: string): boolean =>
  Object.hasOwn(record, field) && (Array.isArray(record[field]) || record[field] === null);

/**
 * The records of the service. Each is recognised by the least that makes it worth delivering: what a field
 * holds beyond that, or whether it is there at all, is a difference to report and not a reason to refuse.
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

/** An answer taken out of its envelope, where it has one. */
interface Unwrapped {
  readonly record: Sent;
  readonly meta: unknown;
}

/**
 * The record of an answer, bare or under `data`; undefined where the answer has no record of this form. Both readings
 * are possible, so the form decides: `data` holds the record where `meta` is next to it, or where the
 * answer itself cannot be one.
 */
export function recognise(name: FormName, body: unknown): Unwrapped | undefined {
  if (!isRecord(body)) return undefined;
  const form: Form = forms[name];
  const { data } = body;
  const isBare = form.isCertain ?? form.fits;
  if (isRecord(data) && form.fits(data) && (Object.hasOwn(body, 'meta') || !isBare(body))) {
    return { record: data, meta: body['meta'] };
  }
  return form.fits(body) ? { record: body, meta: undefined } : undefined;
}
