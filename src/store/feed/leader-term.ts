import { randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { createRecentSet } from '../../base/recent-set.ts';
import type { StoreConnection } from '../connection.ts';
import { isStoreFailure, unusable } from '../failures.ts';
import type { FeedKeys } from '../keys.ts';
import { feedScripts, readList, readPublished } from '../scripts/feed.ts';
import { type FeedPoint, isBefore, timeFrom } from './entry.ts';
import { LEASE_MS, Lease, lead, readLead, resign } from './lease.ts';

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

/** Another process leads; its lease lasts for so long. */
export interface Standby {
  readonly leftMs: number;
}

interface PublishedPost extends FeedPoint {
  readonly entry: string;
}

/**
 * Becomes the leader of a feed, unless another process leads. A new term reads the position and the
 * end of the stream again, because the store may have lost its last second.
 */
export async function openTerm(
  store: StoreConnection,
  leading: Leading,
): Promise<RelayTerm | Standby> {
  const { feed, clock, leaseMs = LEASE_MS } = leading;
  const memory = leading.memory ?? { token: '', state: undefined };
  const askedAt = clock.mono();
  const description = () => Object.entries(leading.describe()).flat();
  const nonce = randomBytes(12).toString('hex');
  const claim = { nonce, leaseMs, lastToken: memory.token };
  const led = readLead(await store.run(...lead.with(feed, claim, description())), leaseMs);
  if ('leftMs' in led) return led;
  const { token } = led;
  memory.token = token;
  const lease = new Lease(store, clock, { askedAt, leaseMs });
  lease.keep(() => store.run(...feedScripts.report.with(feed, { token, leaseMs }, description())));
  const published = await readEnd(store, feed);
  const stored = await readFeedState(store, feed);
  // If the store has lost the feed, continue from what this relay remembers. If it remembers
  // nothing, the feed starts over.
  const isLost = stored.mark === '' && published.length === 0;
  const { mark, last } = isLost ? (memory.state ?? stored) : stored;
  if (isLost || (await store.send('HGET', [feed.info, 'born'])) === null) {
    const begin = feedScripts.beginFeed.with(feed, { token, position: mark, last });
    if ((await store.run(...begin)) !== 1) lease.end();
  }
  const restored = isLost && memory.state !== undefined;
  memory.state = mark === '' ? undefined : { mark, last };
  lease.check();
  const start = { restored, mark: mark === '' ? undefined : mark, published };
  return new RelayTerm(store, leading, { token, lease, memory }, start);
}

/** What a leader holds. */
interface HeldLease {
  readonly token: string;
  readonly lease: Lease;
  readonly memory: RelayMemory;
}

/** The time for which a relay leads a feed: that of one connection. */
export class RelayTerm {
  declare readonly leftMs: undefined;
  /** Whether the store had lost the feed, and got it back from the memory of this relay. */
  readonly restored: boolean;
  /** The position of the previous leader; undefined if the store has none. */
  readonly mark: string | undefined;
  /** The posts that were published after this position, and some before it. */
  readonly published: readonly PublishedPost[];
  readonly #store: StoreConnection;
  readonly #leading: Leading;
  readonly #held: HeldLease;
  /**
   * The posts that were published: the tail of a new leader may read again what the position does
   * not cover.
   */
  readonly #published = createRecentSet(ENTRIES_MAX);
  /** The last entry of the stream. */
  #newest: string;

  constructor(
    store: StoreConnection,
    leading: Leading,
    held: HeldLease,
    { restored, mark, published }: Pick<RelayTerm, 'restored' | 'mark' | 'published'>,
  ) {
    this.#store = store;
    this.#leading = leading;
    this.#held = held;
    this.restored = restored;
    this.mark = mark;
    this.published = published;
    for (const { id } of published.toReversed()) this.#published.add(id);
    this.#newest = published[0]?.entry ?? '';
  }

  get token(): string {
    return this.#held.token;
  }

  /**
   * Aborted when the term ends. After that, this process must neither publish nor pay as leader.
   */
  get over(): AbortSignal {
    return this.#held.lease.over;
  }

  async publish(posts: readonly Post[]): Promise<void> {
    for (let from = 0; from < posts.length; from += BATCH) {
      const batch = posts.slice(from, from + BATCH);
      const fresh = batch.filter(({ id }) => this.#published.add(id));
      if (fresh.length === 0) continue;
      const flat = fresh.flatMap(({ id, at, body }) => [id, at ?? '', body]);
      await this.#send({ position: '', verifiedTo: '', entry: '' }, flat);
    }
  }

  /**
   * Saves a position that covers all posts published so far; `verified` is its verified time, null
   * if it has none.
   */
  async save(mark: string, verified: number | null): Promise<void> {
    const covered = { position: mark, verifiedTo: verified ?? '', entry: this.#newest };
    const last = await this.#send(covered);
    this.#held.memory.state = { mark, last };
  }

  async resign(): Promise<void> {
    const { lease, token } = this.#held;
    const ended = resign.with(this.#leading.feed, { token });
    if (!lease.over.aborted) await this.#store.run(...ended).catch(() => {});
    lease.end();
  }

  /**
   * Publishes, and waits while the store is full. Returns the last post that any leader has
   * published.
   */
  async #send(
    covered: Readonly<Record<'position' | 'verifiedTo' | 'entry', string | number>>,
    posts: readonly (string | number)[] = [],
  ): Promise<string> {
    const { feed, clock, keepMs, keepRows } = this.#leading;
    const { lease, token } = this.#held;
    const call = feedScripts.publish.with(feed, { token, ...covered, keepMs, keepRows }, posts);
    for (;;) {
      lease.check();
      try {
        const published = readPublished(await this.#store.run(...call));
        if (published) {
          this.#newest = published.entry || this.#newest;
          return published.last;
        }
        lease.end();
      } catch (error) {
        if (!isStoreFailure(error, 'STORE_FULL')) throw error;
        await clock.sleep(FULL_RETRY_MS, lease.over);
      }
    }
  }
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
async function readEnd(store: StoreConnection, feed: FeedKeys): Promise<readonly PublishedPost[]> {
  const covered = await store.send('HGET', [feed.info, 'entry']);
  const posts = new Map<string, PublishedPost>();
  const repeated: string[] = [];
  let start = '+';
  for (let read = 0; read < ENTRIES_MAX; read += PAGE) {
    const list = feedScripts.listEntries.with(feed, { start, count: PAGE });
    const { oldest, posts: listed } = readList(await store.run(...list));
    for (const { entry, id, time } of listed) {
      // After a power failure, Redis 7.0 ignores a truncated script at the next start, but executes
      // it at the one after that, when a leader has published its posts again. Followers
      // read the later entry.
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
