import { parseJson } from '../base/json.ts';
import { isRecord } from '../base/json-object.ts';
import { periodsAt } from '../base/periods.ts';
import {
  amountText,
  type BudgetName,
  type BudgetState,
  budgetText,
  type Measure,
  machineFlag,
} from '../contract/budget.ts';
import { hashReply, type StoreConnection, serverNow } from './connection.ts';
import { damagedFailure, storeFailure } from './failures.ts';
import type { Keys } from './keys.ts';
import type { StoreMember } from './link.ts';
import type { StoreMemory } from './memory.ts';
import { listReply, number } from './replies.ts';
import { REMOVED, REVEALS, spendingScripts } from './scripts/spending.ts';

interface StoreBudget {
  readonly period: 'month' | 'day';
  /** CU if absent. */
  readonly measure?: Measure;
  readonly machine: string | undefined;
}

function fieldOf({ period, measure, machine }: StoreBudget): string {
  if (measure === 'reveals') return `${period}${REVEALS}`;
  return machine === undefined ? period : `${period}@${machine}`;
}

export async function setBudget(
  { link, machine, memory }: StoreMember,
  budget: StoreBudget,
  amount: number,
) {
  const field = fieldOf(budget);
  await link.use(async (store) => {
    if (store.server.evicts) throw evictingFailure();
    await store.send('HSET', [link.keys.caps, field, amount]);
  });
  if ((budget.machine ?? machine) === machine)
    memory.update({ budgets: { ...memory.read().budgets, [field]: amount } });
}

export async function unsetBudget(
  { link, memory }: StoreMember,
  budget: StoreBudget,
): Promise<boolean> {
  const field = fieldOf(budget);
  const limit = await link.run(
    ...spendingScripts.removeBudget.with({ caps: link.keys.caps }, { name: field }),
  );
  const { [field]: remembered, ...budgets } = memory.read().budgets;
  memory.update({ budgets });
  return limit !== null || remembered !== undefined;
}

/** Gives the budgets, the sums and what is reserved for one API key to another one. */
export async function handOverSpending(
  store: StoreConnection,
  from: Keys,
  to: Keys,
  machine: string,
): Promise<void> {
  const { month, day } = periodsAt(await serverNow(store));
  const keys = {
    caps: to.caps,
    open: to.open,
    calls: to.calls,
    month: to.sum(month),
    day: to.sum(day),
    capsFrom: from.caps,
    openFrom: from.open,
    callsFrom: from.calls,
    moved: to.moved,
    monthFrom: from.sum(month),
    dayFrom: from.sum(day),
    movedFrom: from.moved,
  };
  await store.run(
    ...spendingScripts.handOver.with(keys, { machine, from: from.bind, to: to.bind }),
  );
}

/**
 * Remembers the budgets of the store on this machine, so that it notices if the store loses them.
 */
export async function noteBudgets(
  store: StoreConnection,
  {
    keys,
    ...member
  }: Pick<StoreMember, 'machine'> & {
    readonly keys: Keys;
    readonly memory: Pick<StoreMemory, 'read' | 'update'>;
  },
): Promise<void> {
  const saved = await hashReply(store, keys.caps);
  // Those that were lost stay remembered, until they are set or unset.
  if (lostBudgets(member, saved).length > 0) return;
  const budgets = { ...member.memory.read().budgets };
  for (const [name, text] of saved) {
    // A damaged limit stops the next paid call.
    const limit = Number(text);
    if (text === REMOVED) delete budgets[name];
    else if (isOf(name, member.machine) && Number.isFinite(limit)) budgets[name] = limit;
  }
  member.memory.update({ budgets });
}

/** Whether a budget limits this machine: that of all machines, or its own. */
const isOf = (name: string, machine: string): boolean =>
  (name.split('@')[1] ?? machine) === machine;

/** A machine, and the budgets that it remembers. */
export interface BudgetMemory {
  readonly memory: Pick<StoreMemory, 'read'>;
  readonly machine: string;
}

export const rememberedBudgets = ({ memory, machine }: BudgetMemory): string[] =>
  Object.keys(memory.read().budgets).filter((name) => isOf(name, machine));

/** The budgets that this machine remembers, and that are not among those of the store. */
export const lostBudgets = (
  member: BudgetMemory,
  saved: ReadonlyMap<string, unknown>,
): readonly string[] => rememberedBudgets(member).filter((name) => !saved.has(name));

/**
 * A budget by its name in the store: `month` or `day`, with `@` and the name of a machine if it
 * limits only this one, or `#reveals` if it limits reveals.
 */
export function budgetNamed(field: string): BudgetName {
  const [name = '', machine] = field.split('@');
  const period = name.startsWith('day') ? 'day' : 'month';
  if (name.endsWith(REVEALS)) return { period, measure: 'reveals', scope: 'key', name: '' };
  return { period, scope: machine === undefined ? 'key' : 'machine', name: machine ?? '' };
}

/**
 * The store has lost budgets that this machine remembers, so spending would no longer be limited.
 */
export function goneFailure(names: readonly string[], memory: StoreMemory) {
  const { budgets } = memory.read();
  const lost = names.map((field) => ({ ...budgetNamed(field), limit: budgets[field] ?? 0 }));
  const texts = lost.map(
    (budget) => `${budgetText(budget)} (${amountText(budget.measure, budget.limit)})`,
  );
  const isOne = lost.length === 1;
  const set = lost.map((one) => `"trdr budget set ${one.period} ${one.limit}${machineFlag(one)}"`);
  const unset = lost.map((one) => `"trdr budget unset ${one.period}${machineFlag(one)}"`);
  const it = isOne ? 'it' : 'them';
  return storeFailure(
    'STORE_UNFIT',
    `the store has lost ${texts.join(' and ')}; paid calls are stopped until ${isOne ? 'it is' : 'they are'} set or unset`,
    `set ${it} again: ${set.join(' and ')}; or drop ${it}: ${unset.join(' and ')}`,
  );
}

/**
 * The failure for a server that removes keys when its memory is full, and could remove a budget.
 */
export const evictingFailure = () =>
  storeFailure(
    'STORE_UNFIT',
    'the store removes keys when its memory is full, and could remove the budgets',
    'set "maxmemory-policy noeviction" on the server, then set the budgets again with "trdr budget set"',
  );

/** The sums of the current month and day, of every budget, and of those that were lost. */
export async function readSums(
  store: StoreConnection,
  keys: Keys,
  now: number,
  lost: readonly string[] = [],
) {
  const all = [...(await hashReply(store, keys.caps))];
  const caps = new Map(
    all.filter(([name, text]) => text !== REMOVED && /^(month|day)(@|#reveals$|$)/.test(name)),
  );
  const { month, day } = periodsAt(now);
  const open = await openReservations(store, keys);
  const sums = [];
  for (const field of new Set(['month', 'day', ...caps.keys(), ...lost])) {
    const { period, measure, scope, name } = budgetNamed(field);
    const of = field.slice(period.length);
    const fields = await hashReply(store, keys.sum(period === 'day' ? day : month));
    const reservations = open.filter((call) => scope === 'key' || call.machine === name);
    sums.push({
      field,
      limit: limitIn(keys.caps, caps.get(field)),
      spent: number(fields.get(`spent${of}`)),
      lost: number(fields.get(`lost${of}`)),
      reserved: reservations.reduce(
        (sum, { most, reveals }) => sum + (measure === 'reveals' ? reveals : most),
        0,
      ),
    });
  }
  return sums;
}

/** Null if there is none. A text that is not a number is a damaged limit. */
function limitIn(key: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  if (text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
  throw damagedFailure(key);
}

const OLD_MS = 600_000;

/**
 * `areOld` if the sums were last raised more than ten minutes ago, or before a restart. Throws if a
 * budget was lost.
 */
export async function readBudgets(store: StoreConnection, member: StoreMember) {
  const { link, machine, memory } = member;
  const { keys } = link;
  const saved = await hashReply(store, keys.caps);
  const gone = lostBudgets(member, saved);
  if (gone.length > 0) throw goneFailure(gone, memory);
  const now = await serverNow(store);
  const limits: Record<string, number> = {};
  const budgets: BudgetState[] = [];
  for (const { field, limit, ...sums } of await readSums(store, keys, now)) {
    const budget = budgetNamed(field);
    if (limit === null || (budget.scope === 'machine' && budget.name !== machine)) continue;
    limits[field] = limit;
    budgets.push({ ...budget, limit, ...sums });
  }
  memory.update({ budgets: limits });
  const month = await hashReply(store, keys.sum(periodsAt(now).month));
  const areOld =
    month.get('boot') !== store.server.boot || now - number(month.get('seeded')) > OLD_MS;
  return { budgets, areOld };
}

async function openReservations(store: StoreConnection, keys: Keys) {
  const ids = listReply(await store.send('ZRANGE', [keys.open, 0, -1])).map(String);
  if (ids.length === 0) return [];
  return listReply(await store.send('HMGET', [keys.calls, ...ids])).flatMap((text) => {
    const call = typeof text === 'string' ? parseJson(text) : undefined;
    return isRecord(call) && call['state'] === 'open'
      ? [
          {
            most: number(call['most']),
            reveals: number(call['reveals'] ?? 0),
            machine: String(call['machine']),
          },
        ]
      : [];
  });
}
