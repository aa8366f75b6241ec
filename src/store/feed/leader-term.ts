import { randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { createRecentSet } from '../../base/recent-set.ts';
import { listReply, type StoreConnection } from '../connection.ts';
import { isStoreFailure, unusable } from '../failures.ts';
import type { FeedKeys } from '../keys.ts';
import { feedScripts } from '../scripts/feed.ts';
import { type FeedPoint, isBefore, timeFrom } from './entry.ts';
import { keepLease, LEASE_MS, lead, resign } from './lease.ts';

const FULL_RETRY_MS = 1_000;
const BATCH = 100;

export interface Post extends FeedPoint {
  readonly body: string;
}

/**
 * A position in a feed, with what is needed to continue from it in a store that has lost the feed.
 */
export interface FeedState {
  readonly mark: string;
  /** The id of the last post that was published; empty if it is not known. */
  readonly last: string;
}

export interface RelayMemory {
  /**
   * That of the last term, which has ended: its lease can outlive its connection, and `openTerm`
   * does not wait for it.
   */
  token: string;
  /**
   * The state from which the relay continues if the store has lost the feed; undefined if it knows
   * none.
   */
  state: FeedState | undefined;
}

interface Leading {
  readonly feed: FeedKeys;
  readonly clock: Clock;
  readonly keepMs: number;
  readonly keepRows: number;
  readonly leaseMs?: number | undefined;
  readonly memory?: RelayMemory | undefined;
  /**
   * What a leader saves about itself. The scripts save `published`, `renewed`, `floor` and `entry`
   * in the same hash.
   */
  readonly describe: () => Readonly<Record<string, string | number>>;
}

export type RelayTerm = Extract<Awaited<ReturnType<typeof openTerm>>, { readonly token: string }>;

/**
 * Becomes the leader of a feed. If another process leads, returns the remaining time of its lease
 * in ms.
 */
export async function openTerm(store: StoreConnection, leading: Leading) {
  const { feed, clock, keepMs, keepRows, leaseMs = LEASE_MS } = leading;
  const memory = leading.memory ?? { token: '', state: undefined };
  const askedAt = clock.mono();
  const description = () => Object.entries(leading.describe()).flat();
  const claim = [randomBytes(12).toString('hex'), leaseMs, memory.token, ...description()];
  const [token, leftMs] = listReply(
    await store.run(lead, [feed.lease, feed.epoch, feed.info], claim),
  );
  if (typeof token !== 'string' || token === '') return { leftMs: Number(leftMs) || leaseMs };
  memory.token = token;

  const lostText = 'this process has lost its lease of the feed';
  const lease = keepLease(store, clock, { askedAt, leaseMs, lostText }, () =>
    store.run(feedScripts.report, [feed.lease, feed.info], [token, leaseMs, ...description()]),
  );
  let newest = '';

  async function send(args: readonly (string | number)[]): Promise<string> {
    const keys = [feed.lease, feed.stream, feed.mark, feed.info];
    for (;;) {
      lease.check();
      try {
        const [word, added, last] = listReply(
          await store.run(feedScripts.publish, keys, [token as string, ...args]),
        );
        if (word === 'ok') {
          newest = String(added) || newest;
          return String(last);
        }
        lease.end();
      } catch (error) {
        if (!isStoreFailure(error, 'STORE_FULL')) throw error;
        await clock.sleep(FULL_RETRY_MS, lease.over);
      }
    }
  }

  const published = await readEnd(store, feed);
  // The tail of a new leader may read again what the position does not cover.
  const known = createRecentSet(ENTRIES_MAX);
  for (const { id } of published.toReversed()) known.add(id);
  newest = published[0]?.entry ?? '';
  const stored = await readFeedState(store, feed);
  // If the store has lost the feed, continue from what this relay remembers. If it remembers
  // nothing, the feed starts over.
  const isLost = stored.mark === '' && published.length === 0;
  const { mark, last } = isLost ? (memory.state ?? stored) : stored;
  if (isLost || (await store.send('HGET', [feed.info, 'born'])) === null) {
    const keys = [feed.lease, feed.mark, feed.info];
    if ((await store.run(feedScripts.beginFeed, keys, [token, mark, last])) !== 1) lease.end();
  }
  const restored = isLost && memory.state !== undefined;
  memory.state = mark === '' ? undefined : { mark, last };
  lease.check();
  return {
    token,
    /** Whether the store had lost the feed, and got it back from the memory of this relay. */
    restored,
    /** The position of the previous leader; undefined if the store has none. */
    mark: mark === '' ? undefined : mark,
    /** The posts that were published after this position, and some before it. */
    published,
    /**
     * Aborted when the term ends. After that, this process must neither publish nor pay for
     * anything as leader.
     */
    over: lease.over,
    async publish(posts: readonly Post[]): Promise<void> {
      for (let from = 0; from < posts.length; from += BATCH) {
        const fresh = posts.slice(from, from + BATCH).filter(({ id }) => known.add(id));
        if (fresh.length === 0) continue;
        const flat = fresh.flatMap(({ id, at, body }) => [id, at ?? '', body]);
        await send(['', '', '', keepMs, keepRows, ...flat]);
      }
    },
    /**
     * Saves a position that covers all posts published so far; `verified` is its verified time,
     * null if it has none.
     */
    async save(mark: string, verified: number | null): Promise<void> {
      const last = await send([mark, verified ?? '', newest, keepMs, keepRows]);
      memory.state = { mark, last };
    },
    async resign(): Promise<void> {
      if (!lease.over.aborted) await store.run(resign, [feed.lease], [token]).catch(() => {});
      lease.end();
    },
  };
}

/** The state of a feed in the store; the position is empty if the store has none. */
export async function readFeedState(store: StoreConnection, feed: FeedKeys): Promise<FeedState> {
  // The last post must not be older than the position.
  const mark = (await store.send('GET', [feed.mark])) ?? '';
  return {
    mark: String(mark),
    last: String((await store.send('HGET', [feed.info, 'last'])) ?? ''),
  };
}

/**
 * The number of entries that a new leader reads at a time, and at most: a day of posts at 0.2
 * posts/s has fewer.
 */
const PAGE = 1_000;
const ENTRIES_MAX = 20_000;

/**
 * Reads the posts that the saved position does not cover, newest first: all without a position, at
 * least a page.
 */
async function readEnd(
  store: StoreConnection,
  feed: FeedKeys,
): Promise<readonly (FeedPoint & { readonly entry: string })[]> {
  const covered = await store.send('HGET', [feed.info, 'entry']);
  const posts = new Map<string, FeedPoint & { readonly entry: string }>();
  const repeated: string[] = [];
  let start = '+';
  for (let read = 0; read < ENTRIES_MAX; read += PAGE) {
    const [oldest = '', ...flat] = listReply(
      await store.run(feedScripts.listEntries, [feed.stream], [start, PAGE]),
    ).map(String);
    for (let at = 0; at + 2 < flat.length; at += 3) {
      const [entry = '', id = '', time = ''] = flat.slice(at, at + 3);
      // After a power failure, Redis 7.0 ignores a truncated script at the next start, but executes
      // it at the one after that, when a leader has published its posts again. Groups read the
      // later entry.
      if (posts.has(id)) repeated.push(entry);
      else posts.set(id, { entry, id, at: timeFrom(time) });
    }
    if (oldest === '' || (typeof covered === 'string' && !isBefore(covered, oldest))) break;
    start = `(${oldest}`;
  }
  // The feed works without the deletion, if the permission for it is missing.
  if (repeated.length > 0)
    await store.send('XDEL', [feed.stream, ...repeated]).catch((error: unknown) => {
      if (unusable(error)) throw error;
    });
  return [...posts.values()];
}
