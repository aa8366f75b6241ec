import * as z from 'zod/mini';
import { field, nullable } from '../field.ts';
import { isRecord, numberOf, type Sent, textOf } from '../read-record.ts';

const Usage = z.looseObject({
  period: field(z.string(), 'Current UTC month, YYYY-MM.'),
  unitsUsed: field(z.number(), 'CU consumed; climbs on every counted call, including for unmetered keys.'),
  unitsRemaining: field(nullable(z.number()), 'Never below 0; null on a key with no cap.'),
  additionalUnits: field(
    z.number(),
    "Top-up units; never expire; spent only once the month's grant cannot cover a call.",
  ),
  revealsUsed: field(z.number(), 'Responses that returned a wallet this period, forward lookups included.'),
  revealsRemaining: field(nullable(z.number()), 'Null on a key with no cap.'),
});

const Entitlement = z.looseObject({
  unmetered: field(z.boolean(), 'True when the key is never refused for quota.'),
  monthlyUnits: field(z.number(), "The plan's monthly grant; does not limit an unmetered key."),
});

/**
 * The key's own record. The service names only the members below; it does not show how account, plan and
 * scopes are nested, so they are passed through and read by `readAccount`.
 */
export const Me = z.looseObject({
  ratePerMinute: z.optional(field(z.int(), "The key's per-minute request limit.")),
  usage: field(Usage, 'What the key has used in the current UTC month.'),
  entitlement: field(Entitlement, 'What the plan grants the key.'),
  account: z.optional(field(z.unknown(), 'The account of the key, in a format that the service defines.')),
  plan: z.optional(field(z.unknown(), 'The plan of the key, in a format that the service defines.')),
  scopes: z.optional(field(z.unknown(), 'The scopes of the key, in a format that the service defines.')),
});
export type Me = z.infer<typeof Me>;

/** What the tool needs from a key's record, whatever its nesting. */
export interface AccountFacts {
  readonly account: string | null;
  readonly plan: string | null;
  readonly scopes: readonly string[] | null;
  readonly ratePerMinute: number | null;
}

/** Reads account, plan, scopes and rate from every nesting that the service may use. */
export function readAccount(me: Sent): AccountFacts {
  const places = [me, me['account'], me['plan'], me['entitlement'], me['key'], me['data']].filter(isRecord);
  const first = <T>(pick: (place: Sent) => T | undefined): T | null => {
    for (const place of places) {
      const found = pick(place);
      if (found !== undefined) return found;
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

const nameOf = (value: unknown) =>
  textOf(value) ??
  (isRecord(value) ? (textOf(value['name']) ?? textOf(value['title']) ?? textOf(value['id'])) : undefined);
const stringsOf = (value: unknown) =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : undefined;
