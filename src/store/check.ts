import { randomBytes } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import type { Failure, Hint } from '../base/failure.ts';
import { infoFields, type StoreConnection, serverNow } from './connection.ts';
import { isStoreFailure } from './failures.ts';
import type { Keys } from './keys.ts';
import type { RedisArgument } from './script.ts';

interface StoreFinding {
  readonly check: string;
  readonly verdict: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  readonly next?: Hint;
}

type Finding = (check: string, detail: string, next?: Hint) => StoreFinding;

const finding =
  (verdict: StoreFinding['verdict']): Finding =>
  (check, detail, next) => ({ check, verdict, detail, ...(next !== undefined && { next }) });
const [ok, warn, fail] = [finding('ok'), finding('warn'), finding('fail')];

/** `user` is that of the store, for hints. */
export async function* examine(
  store: StoreConnection,
  keys: Keys,
  user: string,
  clock: Pick<Clock, 'now' | 'mono'>,
): AsyncGenerator<StoreFinding> {
  const field = infoFields(await store.send('INFO', []));
  yield version(store);
  yield await rights(store, keys, user);
  yield eviction(field('maxmemory_policy'), Number(field('maxmemory')));
  yield persistence(
    field('aof_enabled') === '1',
    field('aof_last_write_status'),
    field('rdb_last_bgsave_status'),
  );
  yield memory(
    Number(field('used_memory')),
    Number(field('maxmemory')),
    field('used_memory_human'),
  );
  yield await clockOf(store, clock);
  yield await roundTrip(store, clock);
}

function version({ server: { product, version: text } }: StoreConnection): StoreFinding {
  const [major = 0] = text.split('.').map(Number);
  if (product === 'valkey' || major >= 7) return ok('version', `${product} ${text}`);
  return fail('version', `${product} ${text} is too old`, 'use Redis 7.0 or newer, or any Valkey');
}

/** Commands that begin with a key, by how many arguments they need after it. */
const afterKey: readonly (readonly [count: number, names: readonly string[]])[] = [
  [1, ['SET', 'PEXPIRE', 'HGET', 'HMGET', 'HDEL', 'SADD', 'SREM', 'ZSCORE', 'ZREM', 'XDEL']],
  [0, ['GET', 'INCR', 'PTTL', 'EXISTS', 'HGETALL', 'SMEMBERS', 'ZCARD', 'XLEN']],
  [2, ['HSET', 'HINCRBY', 'ZADD', 'ZCOUNT', 'ZRANGE', 'ZRANGEBYSCORE', 'ZREMRANGEBYSCORE']],
  [2, ['XRANGE', 'XREVRANGE', 'XTRIM']],
  [3, ['XADD']],
];
/** Any number; as an argument, it can also be a time to live in ms. */
const ANY = 60_000;

/** Most commands fail because the key is temporary, but the server checks the permission first. */
const everyCommand = (key: string): readonly (readonly [string, readonly RedisArgument[]])[] => [
  ['TIME', []],
  ['EVAL', ['return 1', 0]],
  ['EVALSHA', ['0'.repeat(40), 0]],
  ['SCAN', ['0', 'MATCH', `${key}*`, 'COUNT', 1]],
  ['XREAD', ['COUNT', 1, 'STREAMS', key, '0']],
  ...afterKey.flatMap(([count, names]) =>
    names.map((name) => [name, [key, ...Array<number>(count).fill(ANY)]] as const),
  ),
  ['DEL', [key]],
];

/** If at most this many permissions are missing, the hint is the command that adds them. */
const FEW = 6;

async function rights(store: StoreConnection, keys: Keys, user: string): Promise<StoreFinding> {
  const key = `${keys.root}:check:${randomBytes(6).toString('hex')}`;
  const missing: string[] = [];
  let rejected: Failure | undefined;
  for (const [name, args] of everyCommand(key)) {
    try {
      await store.send(name, args);
    } catch (error) {
      if (isStoreFailure(error, 'STORE_FULL')) rejected ??= error;
      else if (isStoreFailure(error, 'STORE_DENIED')) missing.push(name);
      else if (!isStoreFailure(error, 'STORE_UNFIT')) throw error;
    }
  }
  if (missing.length > 0) {
    return fail(
      'rights',
      `the user has no permission to run ${missing.join(', ')}`,
      missing.length > FEW
        ? 'configure the user again with the command in docs/store.md'
        : `run: redis-cli ACL SETUSER ${user} ${missing.map((name) => `'+${name.toLowerCase()}'`).join(' ')}`,
    );
  }
  if (rejected) return fail('writes', rejected.message, rejected.hint);
  return ok('rights', 'the user has permission to run every command that trdr needs');
}

function eviction(policy: string, limit: number): StoreFinding {
  if (policy === 'noeviction' || policy === '')
    return ok('eviction', policy === '' ? 'not reported' : 'noeviction');
  if (limit === 0) return ok('eviction', `${policy}, but the memory is not limited`);
  return fail(
    'eviction',
    `${policy}: a full server would remove budgets, ids and posts without an error`,
    'set maxmemory-policy noeviction',
  );
}

function persistence(aof: boolean, aofStatus: string, rdbStatus: string): StoreFinding {
  if ((aof ? aofStatus : rdbStatus) !== 'ok')
    return fail(
      'persistence',
      aof
        ? 'the server cannot write its append-only file'
        : 'the server could not write its last snapshot',
      'check the disk space and the file permissions on the server',
    );
  if (aof)
    return ok(
      'persistence',
      'the store writes an append-only file (trdr cannot read appendfsync; with everysec, a power failure loses at most the last second)',
    );
  return warn(
    'persistence',
    'the store writes no append-only file: a crash loses the changes since its last snapshot, and lost answers must be paid for again',
    'set appendonly yes and appendfsync everysec',
  );
}

function memory(used: number, limit: number, text: string): StoreFinding {
  if (limit > 0 && used > 0.9 * limit) {
    return warn(
      'memory',
      `${text} used, more than 90% of maxmemory`,
      'raise maxmemory, or store fewer posts: trdr thesis relay --keep, --keep-rows',
    );
  }
  return ok(
    'memory',
    `${text} used${limit > 0 ? `, ${Math.round((100 * used) / limit)}% of maxmemory` : ', no limit'}`,
  );
}

const SKEW_MS = 2_000;

async function clockOf(store: StoreConnection, { now }: Pick<Clock, 'now'>): Promise<StoreFinding> {
  const off = Math.round(now() - (await serverNow(store)));
  if (Math.abs(off) <= SKEW_MS) return ok('clock', 'in sync');
  return warn(
    'clock',
    `this machine is ${Math.abs(off / 1000).toFixed(1)} s ${off > 0 ? 'ahead of' : 'behind'} the store`,
    'synchronize the clocks of this machine and of the server, for example with NTP',
  );
}

const PINGS = 9;
const SLOW_MS = 20;

async function roundTrip(
  store: StoreConnection,
  { mono }: Pick<Clock, 'mono'>,
): Promise<StoreFinding> {
  const times: number[] = [];
  for (let turn = 0; turn < PINGS; turn++) {
    const began = mono();
    await store.send('TIME', []);
    times.push(mono() - began);
  }
  const median = times.sort((one, other) => one - other)[Math.floor(PINGS / 2)] ?? 0;
  const text = `${median.toFixed(1)} ms`;
  if (median <= SLOW_MS) return ok('round trip', text);
  return warn(
    'round trip',
    `${text}; every paid call needs at least three round trips`,
    'use a store in the same region',
  );
}
