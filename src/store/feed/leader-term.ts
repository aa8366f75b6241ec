import { randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { createRecentSet } from '../../base/recent-set.ts';
import type { StoreConnection } from '../connection.ts';
import { isStoreFailure, storeFailure, unusable } from '../failures.ts';
import type { FeedKeys } from '../keys.ts';
import { listReply } from '../replies.ts';
import { beginFeed, listEntries, publish, report } from '../scripts/feed.ts';
import { lead, resign } from '../scripts/lease.ts';
import { type FeedPoint, isBefore, timeFrom } from './entry.ts';

export const LEASE_MS = 10_000;
const RENEW_MS = 2_500;
const FULL_RETRY_MS = 1_000;
const BATCH = 100;

export interface Post {
  readonly id: string;
  readonly at: number | null;
  readonly body: string;
}

/** What a leader saves about itself. The scripts save `published`, `renewed`, `floor` and `entry` in the same hash. */
export type LeaderDescription = Readonly<
  Partial<Record<'machine' | 'mode' | 'gaps' | 'spent' | 'verifiedAgo', string | number>>
>;

/** A position in a feed, with what is needed to continue from it in a store that has lost the feed. */
export interface FeedState {
  readonly mark: string;
  /** The id of the last post that was published; empty if it is not known. */
  readonly last: string;
}

export interface RelayMemory {
  /**
   * The token of the last term, which has ended. The lease of that term can outlive its connection, for example if the
   * server restarts; `openTerm` does not wait for it.
   */
  token: string;
  /** The state from which the relay continues if the store has lost the feed; undefined if it knows none. */
  state: FeedState | undefined;
}

export interface TermOptions {
  readonly store: StoreConnection;
  readonly feed: FeedKeys;
  readonly clock: Clock;
  readonly keepMs: number;
  readonly keepRows: number;
  readonly leaseMs?: number | undefined;
  readonly renewMs?: number | undefined;
  readonly memory?: RelayMemory | undefined;
  readonly describe: () => LeaderDescription;
}

/**
 * The period in which a process leads a feed, over one connection. When the connection breaks, the term ends.
 * A new term must read the position and the end of the stream again, because the server may have failed over or lost its
 * last second of writes.
 */
export interface RelayTerm {
  readonly token: string;
  /** Whether the store had lost the feed, and got it back from the memory of this relay. */
  readonly restored: boolean;
  /** The position of the previous leader; undefined if the store has none. */
  readonly mark: string | undefined;
  /** The posts that were published after this position, and some before it. */
  readonly published: readonly FeedPoint[];
  /**
   * Aborted when the term ends. After that, this process must neither publish nor pay for anything as leader.
   */
  readonly over: AbortSignal;
  publish(posts: readonly Post[]): Promise<void>;
  /** Saves a position that covers all posts published so far; `verified` is its verified time, null if it has none. */
  save(mark: string, verified: number | null): Promise<void>;
  /** Ends the term, so that another process can lead at once. */
  resign(): Promise<void>;
}

/** Becomes the leader. If another process leads, returns the remaining time of its lease in ms. */
export async function openTerm(options: TermOptions): Promise<RelayTerm | { readonly leftMs: number }> {
  const { store, feed, clock, keepMs, keepRows, leaseMs = LEASE_MS, renewMs = RENEW_MS } = options;
  const memory = options.memory ?? { token: '', state: undefined };
  const asked = clock.mono();
  const description = () => Object.entries(options.describe()).flat();
  const nonce = randomBytes(12).toString('hex');
  const keys = [feed.lease, feed.epoch, feed.info];
  const answer = listReply(await store.run(lead, keys, [nonce, leaseMs, memory.token, ...description()]));
  const [token, second] = answer;
  if (typeof token !== 'string' || token === '') return { leftMs: Number(second) || leaseMs };
  memory.token = token;

  const end = new AbortController();
  const over = AbortSignal.any([end.signal, store.lost]);
  /** The time until which the lease certainly lasts. A failed renewal does not change this time. */
  let endsAt = asked + leaseMs;
  const finish = (why: string) => end.abort(storeFailure('STORE_LEASE', why));

  const check = () => {
    if (clock.mono() >= endsAt) finish('this process could not renew its lease of the feed in time');
    over.throwIfAborted();
  };

  /** Ends the term on time, even if the store does not answer. */
  async function watching(): Promise<void> {
    while (clock.mono() < endsAt) await clock.sleep(endsAt - clock.mono(), over);
    finish('this process could not renew its lease of the feed in time');
  }

  async function renewing(): Promise<void> {
    // Send the first report at once, so that the status shows the new leader.
    for (let waitMs = 0; !over.aborted; waitMs = renewMs) {
      if (waitMs > 0) await clock.sleep(waitMs, over);
      const sent = clock.mono();
      const renewed = await store.run(
        report,
        [feed.lease, feed.info],
        [token as string, leaseMs, ...description()],
      );
      if (renewed !== 1) return finish('this process has lost its lease of the feed');
      endsAt = sent + leaseMs;
    }
  }

  let newest = '';

  async function send(args: readonly (string | number)[]): Promise<string> {
    const keys = [feed.lease, feed.stream, feed.mark, feed.info];
    for (;;) {
      check();
      try {
        const [word, added, lastPost]: readonly unknown[] = listReply(
          await store.run(publish, keys, [token as string, ...args]),
        );
        if (word === 'ok') {
          newest = String(added) || newest;
          return String(lastPost);
        }
        finish('this process has lost its lease of the feed');
      } catch (error) {
        if (!isStoreFailure(error, 'STORE_FULL')) throw error;
        await clock.sleep(FULL_RETRY_MS, over);
      }
    }
  }

  /**
   * Reads the state of the feed. If the store has lost it, continues from what this relay remembers; if the relay
   * remembers nothing, the feed starts over.
   */
  async function state(): Promise<FeedState> {
    const stored = await readFeedState(store, feed);
    const isLost = stored.mark === '' && published.length === 0;
    const found = isLost ? (memory.state ?? stored) : stored;
    if (isLost || (await store.send('HGET', [feed.info, 'born'])) === null) {
      const keys = [feed.lease, feed.mark, feed.info];
      if ((await store.run(beginFeed, keys, [token as string, found.mark, found.last])) !== 1)
        finish('this process has lost its lease of the feed');
    }
    restored = isLost && memory.state !== undefined;
    return found;
  }

  let restored = false;
  const published = await readEnd(store, feed);
  // The tail of a new leader may read again what the position does not cover.
  const known = createRecentSet(ENTRIES_MAX);
  for (const { id } of published.toReversed()) known.add(id);
  newest = published[0]?.entry ?? '';
  const { mark, last } = await state();
  memory.state = mark === '' ? undefined : { mark, last };
  check();
  for (const work of [renewing(), watching()]) {
    work.catch((error: unknown) => {
      if (!over.aborted) end.abort(error);
    });
  }
  return {
    token,
    restored,
    mark: mark === '' ? undefined : mark,
    published,
    over,
    async publish(posts) {
      for (let from = 0; from < posts.length; from += BATCH) {
        const fresh = posts.slice(from, from + BATCH).filter(({ id }) => known.add(id));
        if (fresh.length === 0) continue;
        const flat = fresh.flatMap(({ id, at, body }) => [id, at ?? '', body]);
        await send(['', '', '', keepMs, keepRows, ...flat]);
      }
    },
    async save(mark, verified) {
      const last = await send([mark, verified ?? '', newest, keepMs, keepRows]);
      memory.state = { mark, last };
    },
    async resign() {
      if (!over.aborted) await store.run(resign, [feed.lease], [token]).catch(() => {});
      end.abort(storeFailure('STORE_AWAY', 'the term was ended'));
    },
  };
}

/** The state of a feed in the store; the position is empty if the store has none. */
export async function readFeedState(store: StoreConnection, feed: FeedKeys): Promise<FeedState> {
  // The last post must not be older than the position.
  const mark = (await store.send('GET', [feed.mark])) ?? '';
  return { mark: String(mark), last: String((await store.send('HGET', [feed.info, 'last'])) ?? '') };
}

/** The number of entries that a new leader reads at a time, and at most: a day of posts at 0.2 posts/s has fewer. */
const PAGE = 1_000;
const ENTRIES_MAX = 20_000;

/**
 * Reads the posts of the stream's end, newest first: those that the saved position does not cover, or all if there is no
 * position, but at least a page.
 *
 * Deletes entries that a later one repeats. They arise if a power failure cuts off the server's append-only file inside the
 * commands of one script: Redis 7.0 ignores these commands at the next start, but executes them at the start after that,
 * when a leader has published the same posts again. Groups read the later entry.
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
    const [oldest = '', ...flat] = listReply(await store.run(listEntries, [feed.stream], [start, PAGE])).map(
      String,
    );
    for (let at = 0; at + 2 < flat.length; at += 3) {
      const [entry = '', id = '', time = ''] = flat.slice(at, at + 3);
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
