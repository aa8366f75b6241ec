import { periodsAt } from '../base/periods.ts';
import { budgetItem } from '../contract/budget.ts';
import type { LedgerEntry } from '../contract/ports/ledger.ts';
import { type BudgetMemory, budgetNamed, lostBudgets, readSums } from './budgets.ts';
import { hashReply, type StoreConnection, serverNow } from './connection.ts';
import { entryMs, timeFrom } from './feed/entry.ts';
import type { Keys } from './keys.ts';
import { fieldsReply, listReply, number } from './replies.ts';

/** A line of `store status`: the store itself, or a machine, lane, budget or feed. */
export interface StatusItem {
  readonly item: 'store' | 'machine' | 'lane' | 'budget' | 'feed';
  readonly name: string;
  readonly state: string;
  readonly [figure: string]: string | number | null;
}

/** What this machine remembers of the store shows what the store has lost. */
interface StatusMember extends BudgetMemory {
  readonly keys: Keys;
}

export async function readStatus(
  store: StoreConnection,
  { keys, ...member }: StatusMember,
): Promise<StatusItem[]> {
  const now = await serverNow(store);
  const { product, version } = store.server;
  return [
    { item: 'store', name: `${product} ${version}`, state: 'reachable' },
    ...(await machines(store, keys, now)),
    ...(await lanes(store, keys, now)),
    ...(await budgets(store, { keys, ...member }, now)),
    ...(await feeds(store, keys, now)),
  ];
}

async function budgets(
  store: StoreConnection,
  { keys, ...member }: StatusMember,
  now: number,
): Promise<StatusItem[]> {
  const lost = lostBudgets(member, await hashReply(store, keys.caps));
  const sums = await readSums(store, keys, now, lost);
  return sums.map(({ field, ...use }) => {
    const { period, measure } = budgetNamed(field);
    const item = budgetItem(measure ? `${period} ${measure}` : field, use, now);
    const state = lost.includes(field) ? 'lost' : item.state;
    return { ...item, state, ...(measure && { measure }) };
  });
}

async function machines(store: StoreConnection, keys: Keys, now: number): Promise<StatusItem[]> {
  const { month } = periodsAt(now);
  const sums = await hashReply(store, keys.sum(month));
  const seen = fieldsReply(await store.send('ZRANGE', [keys.fleet, 0, -1, 'WITHSCORES']));
  const spenders = [...sums.keys()].flatMap(
    (field) => /^(?:spent|lost)@(.*)$/.exec(field)?.[1] ?? [],
  );
  const names = [...new Set([...seen.keys(), ...spenders])].sort();
  return names.map((name) => {
    const last = seen.get(name);
    return {
      item: 'machine',
      name,
      state: last === undefined ? 'idle' : 'calling',
      lastCallAgo: last === undefined ? null : Math.max(0, now - number(last)),
      spent: number(sums.get(`spent@${name}`)),
      lost: number(sums.get(`lost@${name}`)),
    };
  });
}

async function lanes(store: StoreConnection, keys: Keys, now: number): Promise<StatusItem[]> {
  const items: StatusItem[] = [];
  for (const name of ['key', 'resolve']) {
    const { calls, meta } = keys.lane(name);
    const fields = await hashReply(store, meta);
    const sent = number(await store.send('ZCOUNT', [calls, now - 60_000, now]));
    const queued = number(await store.send('ZCOUNT', [calls, `(${now}`, '+inf']));
    const blocked = Math.max(0, number(fields.get('until')) - now);
    items.push({
      item: 'lane',
      name,
      state: laneState(blocked, queued),
      sent,
      queued,
      blockedFor: blocked,
      limit: fields.has('known') ? number(fields.get('known')) : null,
    });
  }
  return items;
}

function laneState(blocked: number, queued: number): string {
  if (blocked > 0) return 'blocked';
  return queued > 0 ? 'queueing' : 'free';
}

async function feeds(store: StoreConnection, keys: Keys, now: number): Promise<StatusItem[]> {
  const items: StatusItem[] = [];
  for (const id of listReply(await store.send('SMEMBERS', [keys.feeds]))
    .map(String)
    .sort()) {
    const feed = keys.feed(id);
    const info = await hashReply(store, feed.info);
    const left = number(await store.send('PTTL', [feed.lease]));
    const published = timeFrom(info.get('published'));
    const verified = timeFrom(info.get('verifiedAgo'));
    const renewed = timeFrom(info.get('renewed'));
    items.push({
      item: 'feed',
      name: id,
      state: left > 0 ? (info.get('mode') ?? 'starting') : 'no leader',
      leader: left > 0 ? (info.get('machine') ?? '') : null,
      entries: number(await store.send('XLEN', [feed.stream])),
      lastPostAgo: published === null ? null : Math.max(0, now - published),
      lag:
        left > 0 && verified !== null && renewed !== null
          ? Math.max(0, verified + now - renewed)
          : null,
      gaps: number(info.get('gaps')),
      spent: number(info.get('spent')),
    });
  }
  return items;
}

const AT_ONCE = 1_000;

export async function readSharedLedger(
  store: StoreConnection,
  keys: Keys,
  since: number,
): Promise<LedgerEntry[]> {
  const calls = new Map<string, LedgerEntry>();
  for (let from = `${Math.max(0, Math.floor(since))}-0`; ; ) {
    const page = listReply(await store.send('XRANGE', [keys.ledger, from, '+', 'COUNT', AT_ONCE]));
    let last = '';
    for (const pair of page) {
      const [entry = '', flat] = listReply(pair);
      last = String(entry);
      const fields = fieldsReply(flat);
      // A call that was recorded as lost, and whose answer then arrived, has two entries: the later
      // one counts.
      calls.set(fields.get('id') ?? last, callOf(last, fields));
    }
    if (page.length < AT_ONCE) return [...calls.values()];
    from = `(${last}`;
  }
}

function callOf(entry: string, fields: ReadonlyMap<string, string>): LedgerEntry {
  const status = number(fields.get('status'));
  const atMost = number(fields.get('most'));
  return {
    time: entryMs(entry),
    command: fields.get('command') ?? '',
    profile: '',
    host: fields.get('machine') ?? '',
    endpoint: fields.get('endpoint') ?? '',
    requestId: fields.get('request') || undefined,
    status: status === 0 ? null : status,
    cu: number(fields.get('cu')),
    ...(atMost > 0 && { cuAtMost: atMost }),
  };
}
