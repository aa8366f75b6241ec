import type { StoreConnection } from './connection.ts';
import { entryMs, timeFrom } from './feed/entry.ts';
import type { Keys } from './keys.ts';
import { periodsAt } from './periods.ts';

/** The state of a machine, lane, budget, feed or group. */
export interface StatusItem {
  readonly item: 'store' | 'machine' | 'lane' | 'budget' | 'feed' | 'group';
  readonly name: string;
  readonly state: string;
  readonly [figure: string]: string | number | null;
}

const list = (answer: unknown): readonly unknown[] => (Array.isArray(answer) ? answer : []);
const number = (value: unknown): number => (Number.isFinite(Number(value)) ? Number(value) : 0);

async function hash(store: StoreConnection, key: string): Promise<Map<string, string>> {
  const flat = list(await store.send('HGETALL', [key])).map(String);
  const fields = new Map<string, string>();
  for (let at = 0; at + 1 < flat.length; at += 2) fields.set(flat[at] ?? '', flat[at + 1] ?? '');
  return fields;
}

export async function serverNow(store: StoreConnection): Promise<number> {
  const [seconds, micros] = list(await store.send('TIME', [])).map(Number);
  return (seconds ?? 0) * 1000 + Math.floor((micros ?? 0) / 1000);
}

/** Reads the state of everything that the machines of a key share. Changes nothing. */
export async function readStatus(store: StoreConnection, keys: Keys): Promise<StatusItem[]> {
  const now = await serverNow(store);
  const { product, version } = store.server;
  return [
    { item: 'store', name: `${product} ${version}`, state: 'reachable' },
    ...(await machines(store, keys, now)),
    ...(await lanes(store, keys, now)),
    ...(await budgets(store, keys, now)),
    ...(await feeds(store, keys, now)),
  ];
}

async function machines(store: StoreConnection, keys: Keys, now: number): Promise<StatusItem[]> {
  const { month } = periodsAt(now);
  const sums = await hash(store, keys.sum(month));
  const flat = list(await store.send('ZRANGE', [keys.fleet, 0, -1, 'WITHSCORES'])).map(String);
  const seen = new Map<string, number>();
  for (let at = 0; at + 1 < flat.length; at += 2) seen.set(flat[at] ?? '', Number(flat[at + 1]));
  const spenders = [...sums.keys()].flatMap((field) => /^(?:spent|lost)@(.*)$/.exec(field)?.[1] ?? []);
  const names = [...new Set([...seen.keys(), ...spenders])].sort();
  return names.map((name) => {
    const last = seen.get(name);
    return {
      item: 'machine',
      name,
      state: last === undefined ? 'idle' : 'calling',
      lastCallAgo: last === undefined ? null : Math.max(0, now - last),
      spent: number(sums.get(`spent@${name}`)),
      lost: number(sums.get(`lost@${name}`)),
    };
  });
}

async function lanes(store: StoreConnection, keys: Keys, now: number): Promise<StatusItem[]> {
  const items: StatusItem[] = [];
  for (const name of ['key', 'resolve']) {
    const { calls, meta } = keys.lane(name);
    const fields = await hash(store, meta);
    const sent = number(await store.send('ZCOUNT', [calls, now - 60_000, now]));
    const queued = number(await store.send('ZCOUNT', [calls, `(${now}`, '+inf']));
    const blocked = Math.max(0, number(fields.get('until')) - now);
    items.push({
      ...{ item: 'lane', name, state: blocked > 0 ? 'blocked' : queued > 0 ? 'queueing' : 'free' },
      ...{ sent, queued, blockedFor: blocked },
      limit: fields.has('limit') ? number(fields.get('limit')) : null,
    });
  }
  return items;
}

/** The budgets with their use; without a budget, the sums of the month and the day. */
async function budgets(store: StoreConnection, keys: Keys, now: number): Promise<StatusItem[]> {
  const caps = await hash(store, keys.caps);
  const periods = periodsAt(now);
  const reserved = await openReservations(store, keys);
  const items: StatusItem[] = [];
  for (const name of new Set(['month', 'day', ...caps.keys()])) {
    const [period = '', machine] = name.split('@');
    const of = machine === undefined ? '' : `@${machine}`;
    const sums = await hash(store, keys.sum(period === 'day' ? periods.day : periods.month));
    const [spent, lost] = [number(sums.get(`spent${of}`)), number(sums.get(`lost${of}`))];
    const held = reserved.filter((one) => machine === undefined || one.machine === machine);
    const holds = held.reduce((sum, { most }) => sum + most, 0);
    const cap = caps.has(name) ? number(caps.get(name)) : null;
    const state = cap === null ? 'no limit' : spent + lost + holds >= cap ? 'exhausted' : 'within';
    items.push({ item: 'budget', name, state, limit: cap, spent, lost, reserved: holds });
  }
  return items;
}

async function openReservations(store: StoreConnection, keys: Keys) {
  const ids = list(await store.send('ZRANGE', [keys.open, 0, -1])).map(String);
  if (ids.length === 0) return [];
  const texts = list(await store.send('HMGET', [keys.calls, ...ids]));
  return texts.flatMap((text) => {
    const call = typeof text === 'string' ? parse(text) : undefined;
    return call?.['state'] === 'open'
      ? [{ most: number(call['most']), machine: String(call['machine']) }]
      : [];
  });
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

async function feeds(store: StoreConnection, keys: Keys, now: number): Promise<StatusItem[]> {
  const items: StatusItem[] = [];
  for (const id of list(await store.send('SMEMBERS', [keys.feeds]))
    .map(String)
    .sort()) {
    const feed = keys.feed(id);
    const info = await hash(store, feed.info);
    const left = number(await store.send('PTTL', [feed.lease]));
    const published = timeFrom(info.get('published'));
    const verified = timeFrom(info.get('verifiedAgo'));
    const renewed = timeFrom(info.get('renewed'));
    items.push({
      ...{ item: 'feed', name: id, state: left > 0 ? (info.get('mode') ?? 'starting') : 'no leader' },
      leader: left > 0 ? (info.get('machine') ?? '') : null,
      entries: number(await store.send('XLEN', [feed.stream])),
      lastPostAgo: published === null ? null : now - published,
      lag: left > 0 && verified !== null && renewed !== null ? verified + now - renewed : null,
      gaps: number(info.get('gaps')),
      spent: number(info.get('spent')),
    });
    items.push(...(await groups(store, id, feed.stream, now)));
  }
  return items;
}

async function groups(
  store: StoreConnection,
  id: string,
  stream: string,
  now: number,
): Promise<StatusItem[]> {
  if (number(await store.send('EXISTS', [stream])) === 0) return [];
  return list(await store.send('XINFO', ['GROUPS', stream])).map((group) => {
    const flat = list(group);
    const field = (name: string) => flat[flat.indexOf(name) + 1];
    const pending = number(field('pending'));
    const last = String(field('last-delivered-id') ?? '0-0');
    return {
      ...{ item: 'group', name: `${id}/${String(field('name'))}` },
      state: pending > 0 ? 'pending' : 'up to date',
      ...{ members: number(field('consumers')), pending },
      behind: field('lag') === null ? null : number(field('lag')),
      lastReadAgo: entryMs(last) === 0 ? null : now - entryMs(last),
    };
  });
}
