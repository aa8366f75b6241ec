import * as z from 'zod/mini';
import { isRecord, textOf } from '../../base/json-object.ts';
import { boolean, field, float, floatOrNull, int, optional, string } from '../field.ts';
import { PLAN_GRANTED_ONCE } from '../limits.ts';
import { numberOf, type Sent } from '../read-record.ts';

const Usage = z.looseObject({
  period: string('Current UTC month, YYYY-MM.', { pattern: '^\\d{4}-(0[1-9]|1[0-2])$' }),
  unitsUsed: float('CU used; every charged call counts, also for unmetered keys.'),
  unitsRemaining: floatOrNull('CU left, never below 0; null for a key without a limit.'),
  additionalUnits: float(
    'Top-up units left. They never expire, and are used only when the monthly units of the plan cannot cover a call.',
  ),
  revealsUsed: float(
    'Responses of this period that contained a wallet, including those of handle lookups.',
  ),
  revealsRemaining: floatOrNull('Reveals left; null for a key without a limit.'),
});

const Entitlement = z.looseObject({
  unmetered: boolean('True if calls are accepted even when the allowance is used up.'),
  monthlyUnits: float('CU per month that the plan includes; an unmetered key can exceed them.'),
});

/**
 * The account of the key. How account, plan and scopes are nested is not documented, so the record
 * is passed through unchanged and `readAccount` searches it.
 */
export const Me = field(
  z.looseObject({
    ratePerMinute: z.optional(int("The key's per-minute request limit.")),
    usage: field(Usage, 'The usage of the key in the current UTC month.'),
    entitlement: field(Entitlement, 'What the plan grants the key.'),
    account: optional(z.unknown(), 'The account of the key, in a format that the service defines.'),
    plan: optional(z.unknown(), 'The plan of the key, in a format that the service defines.'),
    scopes: optional(z.unknown(), 'The scopes of the key, in a format that the service defines.'),
  }),
  'The account, plan, limits and usage of the key.',
  // Answers without the rate limit are read too, because it may be nested elsewhere.
  { required: ['ratePerMinute', 'usage', 'entitlement'] },
);
export type Me = z.infer<typeof Me>;

/** What happens if the key continues to spend at its average rate of this month. */
export interface Forecast {
  readonly unitsByMonthEnd: number;
  /**
   * Epoch ms; null if the units suffice until the end of the month, or are unlimited or not stated.
   */
  readonly runsOutAt: number | null;
  readonly monthEndsAt: number;
}

/** Finds account, plan, scopes and rate limit wherever the service may have put them. */
export function readAccount(me: Sent) {
  const places = [me, me['account'], me['plan'], me['entitlement'], me['key'], me['data']].filter(
    isRecord,
  );
  const first = <T>(pick: (place: Sent) => T | undefined): T | null => {
    for (const place of places) {
      const value = pick(place);
      if (value !== undefined) return value;
    }
    return null;
  };
  return {
    account: first((place) => nameOf(place['account']) ?? textOf(place['accountId'])),
    plan: first((place) => nameOf(place['plan']) ?? textOf(place['planName'])),
    scopes: first((place) => stringsOf(place['scopes'])),
    ratePerMinute: first((place) => numberOf(place['ratePerMinute'])),
  };
}

/** Whether the plan grants its units only once: then neither a month nor a wait renews them. */
export const isGrantedOnce = (me: Sent): boolean =>
  readAccount(me).plan?.toLowerCase() === PLAN_GRANTED_ONCE;

const nameOf = (value: unknown) =>
  textOf(value) ??
  (isRecord(value)
    ? (textOf(value['name']) ?? textOf(value['title']) ?? textOf(value['id']))
    : undefined);
const stringsOf = (value: unknown) =>
  Array.isArray(value)
    ? value.filter((item): item is string => typeof item === 'string')
    : undefined;
