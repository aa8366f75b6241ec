import type { StoreConnection } from '../connection.ts';
import type { FeedKeys } from '../keys.ts';
import { listReply } from '../replies.ts';
import { listEntries, repair } from '../scripts/feed.ts';
import { readEntries, timeFrom } from './entry.ts';

/**
 * The ids of the posts that leaders of a feed have seen, published or not, with their post times (null if the
 * service sent none). Old ids are omitted.
 */
export type KnownIds = readonly (readonly [id: string, at: number | null])[];

/** The number of latest entries that a new leader checks: a day of posts at 0.2 posts/s has fewer. */
const CHECKED = 20_000;
const PAGE = 1_000;

/**
 * Reads the seen ids of a feed for a new leader. The first leader after a start of the server repairs differences
 * between the ids and the stream; `checked` identifies the start for which this was last done. Scripts are atomic,
 * so differences arise only when a server loads an incomplete data file at its start.
 */
export async function knownIds(
  store: StoreConnection,
  feed: FeedKeys,
  { token, checked }: { readonly token: string; readonly checked: unknown },
): Promise<KnownIds> {
  const { boot } = store.server;
  const stored = await readIds(store, feed);
  const known = stored.length === 0 ? await rebuild(store, feed) : stored;
  if (boot !== '' && checked === boot) return known;
  const { repeated, missing } = await compareStream(store, feed, known);
  const members = JSON.stringify(missing.map(([id, at]) => [id, at ?? '+inf']));
  const keys = [feed.lease, feed.seen, feed.stream, feed.info];
  await store.run(repair, keys, [token, boot, members, ...repeated]);
  return repeated.length === 0 && missing.length === 0 ? known : readIds(store, feed);
}

/**
 * Finds entries whose post a later entry repeats, and ids of the stream that are missing from the seen ids.
 *
 * Such differences arise if a power failure cuts off the server's append-only file inside the commands of
 * one script. Redis 7.0 ignores these commands at the next start, but executes them at the start after that. By
 * then, a leader has published the same posts again, so the stream contains them twice. The earlier entry is deleted:
 * groups may have passed its position while it was missing, but they read the later entry.
 */
async function compareStream(store: StoreConnection, feed: FeedKeys, known: KnownIds) {
  const ids = new Set(known.map(([id]) => id));
  // The ids of posts before this time were removed on purpose and are not restored.
  const floor =
    timeFrom(String((await store.send('HGET', [feed.info, 'floor'])) ?? '')) ?? Number.NEGATIVE_INFINITY;
  const later = new Set<string>();
  const repeated: string[] = [];
  const missing: [id: string, at: number | null][] = [];
  let start = '+';
  for (let read = 0; read < CHECKED; read += PAGE) {
    const [oldest, ...flat] = listReply(await store.run(listEntries, [feed.stream], [start, PAGE])).map(
      String,
    );
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

/** Restores the ids from the stream, in case the server removed them because its memory was full. */
async function rebuild(store: StoreConnection, feed: FeedKeys): Promise<KnownIds> {
  const rows = readEntries(await store.send('XREVRANGE', [feed.stream, '+', '-', 'COUNT', CHECKED]));
  if (rows.length > 0) {
    const scores = rows.flatMap(({ id, at }) => [at ?? '+inf', id]);
    await store.send('ZADD', [feed.seen, 'NX', ...scores]);
  }
  return rows.map(({ id, at }) => [id, at]);
}

const readIds = async (store: StoreConnection, feed: FeedKeys): Promise<KnownIds> =>
  idsReply(await store.send('ZRANGE', [feed.seen, 0, -1, 'WITHSCORES']));

/** Ids with their post times, from a reply of ZRANGE. */
export function idsReply(reply: unknown): KnownIds {
  const flat = listReply(reply);
  const known: [string, number | null][] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) {
    known.push([String(flat[at]), timeFrom(String(flat[at + 1]))]);
  }
  return known;
}
