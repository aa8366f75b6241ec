import type { StoreConnection } from '../connection.ts';
import type { FeedKeys } from '../keys.ts';
import { listEntries, repair } from '../scripts/feed.ts';
import { readEntries, timeFrom } from './entry.ts';

/** Published ids above the floor, with their post times. */
export type KnownIds = readonly (readonly [id: string, at: number | null])[];

export const asList = (answer: unknown): readonly unknown[] => (Array.isArray(answer) ? answer : []);

/** Number of newest entries that a new term checks: more than a day of posts. */
const CHECKED = 20_000;
const PAGE = 1_000;

/** Reads the ids of a feed for a new term, after making them agree with the stream. */
export async function knownIds(store: StoreConnection, feed: FeedKeys, token: string): Promise<KnownIds> {
  const known = await readIds(store, feed);
  if (known.length === 0) return rebuild(store, feed);
  const { repeated, missing } = await compareStream(store, feed, known);
  if (repeated.length === 0 && missing.length === 0) return known;
  const members = JSON.stringify(missing.map(([id, at]) => [id, at ?? '+inf']));
  await store.run(repair, [feed.lease, feed.seen, feed.stream], [token, members, ...repeated]);
  return readIds(store, feed);
}

/**
 * Finds entries that a later entry repeats, and ids that are in the stream only. If a power failure tears the file of
 * the server within a script's block, Redis 7.0 leaves the beginning of the block in the file, ignores it at the next
 * start and runs it at the start after that: then the stream also holds the posts that were published again meanwhile.
 * The earlier entry is deleted, because groups may be past it without having read it.
 */
async function compareStream(store: StoreConnection, feed: FeedKeys, known: KnownIds) {
  const ids = new Set(known.map(([id]) => id));
  // Ids below the floor were forgotten on purpose.
  const floor =
    timeFrom(String((await store.send('HGET', [feed.info, 'floor'])) ?? '')) ?? Number.NEGATIVE_INFINITY;
  const later = new Set<string>();
  const repeated: string[] = [];
  const missing: [id: string, at: number | null][] = [];
  let start = '+';
  for (let read = 0; read < CHECKED; read += PAGE) {
    const [oldest, ...flat] = asList(await store.run(listEntries, [feed.stream], [start, PAGE])).map(String);
    for (let at = 0; at + 2 < flat.length; at += 3) {
      const [entry = '', id = '', time = ''] = flat.slice(at, at + 3);
      const postTime = timeFrom(time);
      if (later.has(id)) repeated.push(entry);
      else if (!ids.has(id) && (postTime ?? floor) >= floor) missing.push([id, postTime]);
      later.add(id);
    }
    if (oldest === undefined || oldest === '') break;
    start = `(${oldest}`;
  }
  return { repeated, missing };
}

/** Rebuilds the ids from the stream if an evicting server dropped them. */
async function rebuild(store: StoreConnection, feed: FeedKeys): Promise<KnownIds> {
  const rows = readEntries(await store.send('XREVRANGE', [feed.stream, '+', '-', 'COUNT', CHECKED]));
  if (rows.length > 0) {
    const scores = rows.flatMap(({ id, at }) => [at ?? '+inf', id]);
    await store.send('ZADD', [feed.seen, 'NX', ...scores]);
  }
  return rows.map(({ id, at }) => [id, at]);
}

async function readIds(store: StoreConnection, feed: FeedKeys): Promise<KnownIds> {
  const flat = asList(await store.send('ZRANGE', [feed.seen, 0, -1, 'WITHSCORES']));
  const known: [string, number | null][] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) {
    known.push([String(flat[at]), timeFrom(String(flat[at + 1]))]);
  }
  return known;
}
