import { parseJson } from '../base/json.ts';
import { isRecord } from '../base/json-object.ts';
import { periodsAt } from '../base/periods.ts';
import type { BudgetState } from '../contract/budget.ts';
import type { StoreConnection } from './connection.ts';
import { damagedFailure } from './failures.ts';
import type { Keys } from './keys.ts';
import { hashReply, listReply, number, serverNow } from './replies.ts';
import { REMOVED } from './scripts/spending.ts';

/** The sums of a month or day, for all machines or for one machine. */
interface PeriodSum {
  /** The name in the store: `month` or `day`, for one machine with `@` and the name of the machine. */
  readonly field: string;
  /** The limit in CU; null if there is no budget. */
  readonly limit: number | null;
  readonly spent: number;
  readonly lost: number;
  readonly reserved: number;
}

/** The sums of the current month and day, and the sums of every budget. */
export async function readSums(store: StoreConnection, keys: Keys, now: number): Promise<PeriodSum[]> {
  const caps = new Map([...(await hashReply(store, keys.caps))].filter(([, text]) => text !== REMOVED));
  const { month, day } = periodsAt(now);
  const open = await openReservations(store, keys);
  const sums: PeriodSum[] = [];
  for (const field of new Set(['month', 'day', ...caps.keys()])) {
    const [period = '', machine] = field.split('@');
    const of = machine === undefined ? '' : `@${machine}`;
    const fields = await hashReply(store, keys.sum(period === 'day' ? day : month));
    const reservations = open.filter((call) => machine === undefined || call.machine === machine);
    sums.push({
      field,
      limit: limitIn(keys.caps, caps.get(field)),
      spent: number(fields.get(`spent${of}`)),
      lost: number(fields.get(`lost${of}`)),
      reserved: reservations.reduce((sum, { most }) => sum + most, 0),
    });
  }
  return sums;
}

/** A limit in CU; null if there is no limit. Throws if the text is not a number, because it is a damaged limit. */
function limitIn(key: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  if (text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
  throw damagedFailure(key);
}

const OLD_MS = 600_000;

/**
 * Whether the sums must be compared with the service's count, because the last comparison was more than ten minutes
 * ago or before a restart of the server.
 */
export async function areSumsOld(store: StoreConnection, keys: Keys): Promise<boolean> {
  const now = await serverNow(store);
  const month = await hashReply(store, keys.sum(periodsAt(now).month));
  return month.get('boot') !== store.server.boot || now - number(month.get('seeded')) > OLD_MS;
}

/** The budgets of a key, with their use. */
export async function readBudgets(store: StoreConnection, keys: Keys): Promise<BudgetState[]> {
  return (await readSums(store, keys, await serverNow(store))).flatMap(({ field, limit, ...sums }) => {
    const [period, machine] = field.split('@');
    if (limit === null || (period !== 'month' && period !== 'day')) return [];
    const whose =
      machine === undefined
        ? { scope: 'key' as const, name: '' }
        : { scope: 'machine' as const, name: machine };
    return [{ period, ...whose, limit, ...sums }];
  });
}

async function openReservations(store: StoreConnection, keys: Keys) {
  const ids = listReply(await store.send('ZRANGE', [keys.open, 0, -1])).map(String);
  if (ids.length === 0) return [];
  return listReply(await store.send('HMGET', [keys.calls, ...ids])).flatMap((text) => {
    const call = typeof text === 'string' ? parseJson(text) : undefined;
    return isRecord(call) && call['state'] === 'open'
      ? [{ most: number(call['most']), machine: String(call['machine']) }]
      : [];
  });
}
