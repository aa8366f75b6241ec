import { plainJson } from '../base/json-object.ts';
import { periodsAt } from '../base/periods.ts';
import type { StoreConnection } from './connection.ts';
import { isStoreFailure } from './failures.ts';
import type { Keys } from './keys.ts';
import { listReply, serverNow } from './replies.ts';
import { REMOVED } from './scripts/spending.ts';

/** A key of the store whose content trdr cannot use. */
export interface DamagedKey {
  readonly key: string;
  /** What the store key contains, for messages. */
  readonly what: string;
  /** The consequence of removing the store key, or what to do then, for messages. */
  readonly without: string;
}

type Type = 'text' | 'hash' | 'zset' | 'set' | 'stream';
/** The fields and values of a hash, or the only value of a text. */
type Values = readonly (readonly [field: string, value: string])[];

interface Expected extends DamagedKey {
  readonly type: Type;
  readonly isValid?: (values: Values) => boolean;
}

const isNumber = (text: string) => text.trim() !== '' && Number.isFinite(Number(text));
const areNumbers = (values: Values) => values.every(([, value]) => isNumber(value));
const areRecords = (values: Values) =>
  values.every(([, value]) => value.startsWith('{') && plainJson(value) !== undefined);
/** Whether all values of a sum are numbers, except for `boot`. */
const isSum = (values: Values) => areNumbers(values.filter(([field]) => field !== 'boot'));

const RESTORED = "the sum is then restored from the service's count";
const LANE = 'a few calls may then be rejected with 429';

/** The keys that every machine uses, and those of each feed. */
function expected(keys: Keys, feeds: readonly string[], now: number): Expected[] {
  const { month, day } = periodsAt(now);
  const lanes = ['key', 'resolve'].flatMap((name): Expected[] => {
    const { calls, meta } = keys.lane(name);
    return [
      { key: calls, type: 'zset', what: `the calls of lane "${name}"`, without: LANE },
      { key: meta, type: 'hash', what: `the limit of lane "${name}"`, without: LANE, isValid: areNumbers },
    ];
  });
  const ofFeeds = feeds.flatMap((id): Expected[] => {
    const feed = keys.feed(id);
    const again = `then run "trdr store clear feed ${id}" to start the feed over`;
    const of = `of feed ${id}`;
    return [
      { key: feed.stream, type: 'stream', what: `the posts ${of}`, without: again },
      {
        key: feed.seen,
        type: 'zset',
        what: `the ids ${of}`,
        without: 'the ids are then restored from the posts',
      },
      {
        key: feed.mark,
        type: 'text',
        what: `the checkpoint ${of}`,
        without: 'the next leader then continues after the newest post in the store',
        isValid: areRecords,
      },
      {
        key: feed.info,
        type: 'hash',
        what: `the state ${of}`,
        without: 'the leader of the feed then saves the state again',
      },
      {
        key: feed.epoch,
        type: 'text',
        what: `the leader counter ${of}`,
        without: 'the counter then starts at 1 again',
        isValid: areNumbers,
      },
      {
        key: feed.lease,
        type: 'text',
        what: `the lease ${of}`,
        without: 'another relay may then become the leader',
      },
    ];
  });
  return [
    {
      key: keys.caps,
      type: 'hash',
      what: 'the budgets',
      without: 'then set the budgets again',
      isValid: (values) => areNumbers(values.filter(([, value]) => value !== REMOVED)),
    },
    {
      key: keys.sum(month),
      type: 'hash',
      what: 'the spending of the month',
      without: RESTORED,
      isValid: isSum,
    },
    {
      key: keys.sum(day),
      type: 'hash',
      what: 'the spending of the day',
      without: 'the sum of the day then starts at zero',
      isValid: isSum,
    },
    {
      key: keys.calls,
      type: 'hash',
      what: 'the calls in flight',
      without: 'the budgets do not count the present calls in flight until they are answered',
      isValid: areRecords,
    },
    {
      key: keys.open,
      type: 'zset',
      what: 'the reservations',
      without: 'the budgets do not count the present calls in flight until they are answered',
    },
    { key: keys.done, type: 'zset', what: 'the list of settled calls', without: 'nothing else changes' },
    {
      key: keys.ledger,
      type: 'stream',
      what: 'the shared ledger',
      without: 'past calls are then no longer listed',
    },
    {
      key: keys.fleet,
      type: 'zset',
      what: 'the list of machines',
      without: 'machines are then added again with their next call',
    },
    { key: keys.feeds, type: 'set', what: 'the list of feeds', without: 'relays then add their feeds again' },
    ...lanes,
    ...ofFeeds,
  ];
}

/** Finds keys of trdr that another program has overwritten. Their values are not shown. */
export async function findDamaged(store: StoreConnection, keys: Keys): Promise<DamagedKey[]> {
  const feeds = await store.send('SMEMBERS', [keys.feeds]).then(
    (answer) => listReply(answer).map(String),
    () => [],
  );
  const damaged: DamagedKey[] = [];
  for (const one of expected(keys, feeds.filter(isFeedName), await serverNow(store))) {
    try {
      const values = await valuesOf(store, one);
      if (one.isValid && !one.isValid(values)) damaged.push(one);
    } catch (error) {
      if (isStoreFailure(error, 'STORE_UNFIT')) damaged.push(one);
      else if (!isStoreFailure(error, 'STORE_DENIED')) throw error;
    }
  }
  return damaged;
}

const isFeedName = (name: string) => /^[\w.-]{1,100}$/.test(name);

/** Reads a key with a command of its type, which the server rejects for any other type. */
async function valuesOf(store: StoreConnection, { key, type }: Expected): Promise<Values> {
  if (type === 'zset') await store.send('ZCARD', [key]);
  if (type === 'stream') await store.send('XLEN', [key]);
  if (type === 'set') await store.send('SMEMBERS', [key]);
  if (type === 'text') {
    const value = await store.send('GET', [key]);
    return value === null ? [] : [['', String(value)]];
  }
  if (type !== 'hash') return [];
  const flat = listReply(await store.send('HGETALL', [key])).map(String);
  return flat.flatMap((field, at) => (at % 2 === 0 ? [[field, flat[at + 1] ?? ''] as const] : []));
}
