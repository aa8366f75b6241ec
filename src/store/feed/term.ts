import { randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { StoreConnection } from '../connection.ts';
import { isStoreFailure, storeFailure } from '../failures.ts';
import type { FeedKeys } from '../keys.ts';
import { publish, report } from '../scripts/feed.ts';
import { lead, resign } from '../scripts/lease.ts';
import { asList, type KnownIds, knownIds } from './known-ids.ts';

export const LEASE_MS = 10_000;
const RENEW_MS = 2_500;
const FULL_RETRY_MS = 1_000;
/** Maximum number of posts that one script call publishes. */
const BATCH = 100;

/** A post to publish. */
export interface Post {
  readonly id: string;
  readonly at: number | null;
  readonly body: string;
}

export interface TermOptions {
  readonly store: StoreConnection;
  readonly feed: FeedKeys;
  readonly clock: Clock;
  readonly keepMs: number;
  readonly keepRows: number;
  readonly leaseMs?: number | undefined;
  readonly renewMs?: number | undefined;
  /** What an operator sees of the leader: its machine, its connection mode, its cost. */
  readonly describe: () => Readonly<Record<string, string | number>>;
}

/**
 * The time in which one process leads a feed, over one connection. If the connection breaks, the term is
 * over; a new term reads mark and ids again, because the server may have failed over or lost its last
 * second of writes.
 */
export interface RelayTerm {
  readonly token: string;
  /** The checkpoint of the previous term; undefined in the first term. */
  readonly mark: string | undefined;
  readonly known: KnownIds;
  /** Aborted when the term is over: from then on, nothing may be published or paid for in it. */
  readonly over: AbortSignal;
  /** Publishes posts, oldest first; waits while the store is full. */
  publish(posts: readonly Post[]): Promise<void>;
  /**
   * Saves a checkpoint with the known ids above its floor. They include posts that are not published, such
   * as those from before the start. Ids below the floor are forgotten.
   */
  save(mark: string, floor: number | null, ids: KnownIds): Promise<void>;
  /** Ends the term, so that a standby can take over at once. */
  resign(): Promise<void>;
}

/** Becomes the leader, or returns for how many ms another process still leads. */
export async function openTerm(options: TermOptions): Promise<RelayTerm | { readonly leftMs: number }> {
  const { store, feed, clock, keepMs, keepRows, leaseMs = LEASE_MS, renewMs = RENEW_MS } = options;
  const asked = clock.mono();
  const answer = await store.run(lead, [feed.lease, feed.epoch], [randomBytes(12).toString('hex'), leaseMs]);
  const [token = '', left = 0]: readonly unknown[] = Array.isArray(answer) ? answer : [];
  if (typeof token !== 'string' || token === '') return { leftMs: Number(left) || leaseMs };

  const end = new AbortController();
  const over = AbortSignal.any([end.signal, store.lost]);
  /** The lease ends by then at the latest, whatever the outcome of the last renewal. */
  let endsAt = asked + leaseMs;
  const finish = (why: string) => end.abort(storeFailure('STORE_AWAY', why));

  const check = () => {
    if (clock.mono() >= endsAt) finish('the lease ended before it could be renewed');
    over.throwIfAborted();
  };

  /** Ends the term in time even if an answer is pending. */
  async function watching(): Promise<void> {
    while (clock.mono() < endsAt) await clock.sleep(endsAt - clock.mono(), over);
    finish('the lease ended before it could be renewed');
  }

  async function renewing(): Promise<void> {
    // The first report follows at once, so that the status names the new leader.
    for (let waitMs = 0; !over.aborted; waitMs = renewMs) {
      if (waitMs > 0) await clock.sleep(waitMs, over);
      const sent = clock.mono();
      const description = Object.entries(options.describe()).flat();
      const renewed = await store.run(
        report,
        [feed.lease, feed.info],
        [token as string, leaseMs, ...description],
      );
      if (renewed !== 1) return finish('another machine leads the feed');
      endsAt = sent + leaseMs;
    }
  }

  async function send(args: readonly (string | number)[]): Promise<void> {
    const keys = [feed.lease, feed.seen, feed.stream, feed.mark, feed.info];
    for (;;) {
      check();
      try {
        const [word]: readonly unknown[] = asList(await store.run(publish, keys, [token as string, ...args]));
        if (word === 'ok') return;
        finish('another machine leads the feed');
      } catch (error) {
        if (!isStoreFailure(error, 'STORE_FULL')) throw error;
        await clock.sleep(FULL_RETRY_MS, over);
      }
    }
  }

  const known = await knownIds(store, feed, token);
  /** Ids in the store, as far as this term knows. */
  const stored = new Set(known.map(([id]) => id));
  const mark = await store.send('GET', [feed.mark]);
  check();
  for (const work of [renewing(), watching()]) {
    work.catch((error: unknown) => {
      if (!over.aborted) end.abort(error);
    });
  }
  return {
    token,
    mark: typeof mark === 'string' ? mark : undefined,
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
      const members =
        missing.length === 0 ? '' : JSON.stringify(missing.map(([id, at]) => [id, at ?? '+inf']));
      await send([text, floor ?? '', keepMs, keepRows, members]);
      stored.clear();
      for (const [id] of ids) stored.add(id);
    },
    async resign() {
      if (!over.aborted) await store.run(resign, [feed.lease], [token]).catch(() => {});
      end.abort(storeFailure('STORE_AWAY', 'the term was ended'));
    },
  };
}
