import { randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { StoreConnection } from '../connection.ts';
import { isStoreFailure, storeFailure } from '../failures.ts';
import type { FeedKeys } from '../keys.ts';
import { listReply } from '../replies.ts';
import { beginFeed, feedState, publish, report } from '../scripts/feed.ts';
import { lead, resign } from '../scripts/lease.ts';
import { idsReply, type KnownIds, knownIds } from './known-ids.ts';

export const LEASE_MS = 10_000;
const RENEW_MS = 2_500;
const FULL_RETRY_MS = 1_000;
/** The maximum number of posts in one call of the script `publish`. */
const BATCH = 100;

/** A post to publish. */
export interface Post {
  readonly id: string;
  readonly at: number | null;
  readonly body: string;
}

/** What a leader saves about itself. The scripts save `published`, `renewed`, `floor` and `checked` in the same hash. */
export type LeaderDescription = Readonly<
  Partial<Record<'machine' | 'mode' | 'gaps' | 'spent' | 'verifiedAgo', string | number>>
>;

/** A checkpoint of a feed, with what is needed to continue from it in a store that has lost the feed. */
export interface FeedState {
  readonly mark: string;
  readonly ids: KnownIds;
  /** The id of the last post that was published; empty if it is not known. */
  readonly last: string;
}

/** What a relay remembers between its terms. */
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
  /** `openTerm` updates it. */
  readonly memory?: RelayMemory | undefined;
  /** What `store status` shows about the leader: its machine, mode and cost. */
  readonly describe: () => LeaderDescription;
}

/**
 * The period in which a process leads a feed, over one connection. When the connection breaks, the term ends.
 * A new term must read the checkpoint and ids again, because the server may have failed over or lost its last
 * second of writes.
 */
export interface RelayTerm {
  readonly token: string;
  /** Whether the store had lost the feed, and got it back from the memory of this relay. */
  readonly restored: boolean;
  /** The checkpoint of the previous leader; undefined if the store has none. */
  readonly mark: string | undefined;
  readonly known: KnownIds;
  /**
   * Aborted when the term ends. After that, this process must neither publish nor pay for anything as leader.
   */
  readonly over: AbortSignal;
  /** Publishes posts, oldest first. Waits while the server rejects writes (`STORE_FULL`). */
  publish(posts: readonly Post[]): Promise<void>;
  /**
   * Saves a checkpoint with the seen ids, which include the ids of posts that were not published because they are
   * from before the start of the feed. Removes the ids of posts that are older than `floor`; none if it is null.
   */
  save(mark: string, floor: number | null, ids: KnownIds): Promise<void>;
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

  /** Returns the id of the last post that was published. */
  async function send(args: readonly (string | number)[]): Promise<string> {
    const keys = [feed.lease, feed.seen, feed.stream, feed.mark, feed.info];
    for (;;) {
      check();
      try {
        const [word, , , lastPost]: readonly unknown[] = listReply(
          await store.run(publish, keys, [token as string, ...args]),
        );
        if (word === 'ok') return String(lastPost);
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
    const ids = await knownIds(store, feed, { token: token as string, checked: second });
    const { mark, last } = await readFeedState(store, feed);
    const isLost = mark === '' && ids.length === 0;
    const found = isLost ? (memory.state ?? { mark, ids, last }) : { mark, ids, last };
    if (isLost || (await store.send('HGET', [feed.info, 'born'])) === null) {
      const keys = [feed.lease, feed.seen, feed.mark, feed.info];
      const args = [token as string, found.mark, members(found.ids), found.last];
      if ((await store.run(beginFeed, keys, args)) !== 1)
        finish('this process has lost its lease of the feed');
    }
    restored = isLost && memory.state !== undefined;
    return found;
  }

  let restored = false;
  const { mark, ids: known, last } = await state();
  memory.state = mark === '' ? undefined : { mark, ids: known, last };
  /** The ids that need not be sent with the next checkpoint, because the store has them. */
  const stored = new Set(known.map(([id]) => id));
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
    known,
    over,
    async publish(posts) {
      for (let from = 0; from < posts.length; from += BATCH) {
        const batch = posts.slice(from, from + BATCH);
        const flat = batch.flatMap(({ id, at, body }) => [id, at ?? '', body]);
        await send(['', '', keepMs, keepRows, '', ...flat]);
        for (const { id } of batch) stored.add(id);
      }
    },
    async save(text, floor, ids) {
      const missing = ids.filter(([id]) => !stored.has(id));
      const added = missing.length === 0 ? '' : members(missing);
      const last = await send([text, floor ?? '', keepMs, keepRows, added]);
      memory.state = { mark: text, ids, last };
      stored.clear();
      for (const [id] of ids) stored.add(id);
    },
    async resign() {
      if (!over.aborted) await store.run(resign, [feed.lease], [token]).catch(() => {});
      end.abort(storeFailure('STORE_AWAY', 'the term was ended'));
    },
  };
}

/** Ids with their post times, as the scripts read them. */
const members = (ids: KnownIds) => JSON.stringify(ids.map(([id, at]) => [id, at ?? '+inf']));

/** The state of a feed in the store; the checkpoint is empty if the store has none. */
export async function readFeedState(store: StoreConnection, feed: FeedKeys): Promise<FeedState> {
  const reply = await store.run(feedState, [feed.mark, feed.seen, feed.info], []);
  const [mark, last, ids] = listReply(reply);
  return { mark: String(mark), last: String(last), ids: idsReply(ids) };
}
