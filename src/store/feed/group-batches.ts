import type { StoreConnection } from '../connection.ts';
import type { FeedKeys } from '../keys.ts';
import { listReply } from '../replies.ts';
import { before, type FeedPoint, readEntries, readStreams, type StreamRow } from './entry.ts';
import { joinGroup } from './join-group.ts';
import type { Reaching } from './reconnect.ts';

/**
 * A renewal of the lease waits for a read, so this must be much shorter than the timeout of a
 * command.
 */
const BLOCK_MS = 1_000;
/**
 * If a member of a shared group shows no sign of work on a batch for this long, another member gets
 * the batch.
 */
const ABANDONED_MS = 60_000;

/** What a machine remembers about a group, in case the store loses it. */
export interface GroupPlace {
  readonly born: string;
  /** The last post that a member on this machine has delivered; null if there is none. */
  readonly last: FeedPoint | null;
  /**
   * The post time up to which the stream had every post before that one; null if it is not known.
   */
  readonly verified: number | null;
}

export interface GroupOptions extends Reaching {
  readonly feed: FeedKeys;
  readonly name: string;
  /**
   * Whether all members read at the same time. If not, one member reads and the others are on
   * standby.
   */
  readonly shared: boolean;
  readonly machine: string;
  /**
   * The maximum number of rows in a batch, and how long an incomplete batch waits for more rows.
   */
  readonly batch: number;
  readonly lingerMs: number;
  /** Where a new group starts: at new posts (`$`) or at the oldest post (`0`). */
  readonly start: '$' | '0';
  readonly memory: { read(): GroupPlace | undefined; save(place: GroupPlace): void };
  readonly leaseMs?: number | undefined;
  readonly abandonedMs?: number | undefined;
}

/** What a member has done, over all its connections. */
export interface GroupWork {
  isDelivering: boolean;
  /**
   * The last entry that was acknowledged. If the group was removed, the member creates it again
   * after this entry.
   */
  acknowledged: string | undefined;
  place: GroupPlace | undefined;
}

/** How a member reads and acknowledges on one connection. */
interface Membership {
  readonly consumer: string;
  readonly ack: (entries: readonly string[]) => Promise<void>;
  readonly work: GroupWork;
  /**
   * Aborted when this member loses its lease or connection; another member then gets its batches.
   */
  readonly lost: AbortSignal;
}

export interface BatchEvent {
  readonly kind: 'batch';
  readonly rows: readonly StreamRow[];
  /**
   * Throws if this member of an ordered group is no longer active; the next one then delivers the
   * batch again.
   */
  readonly ack: () => Promise<void>;
  readonly over: AbortSignal;
}

/**
 * These entries were deleted before they were delivered; `missing` is null if the store has lost
 * the group.
 */
interface GroupGap {
  readonly kind: 'gap';
  readonly missing: number | null;
  readonly from: FeedPoint | null;
  readonly to: FeedPoint;
}

export type GroupReadEvent =
  | BatchEvent
  | GroupGap
  /**
   * The store has lost the feed. With the next batch comes a gap, or `found` if no post is missing.
   */
  | { readonly kind: 'lost'; readonly from: FeedPoint | null }
  | { readonly kind: 'found' };

/** The entries of one reply. Those that are not posts have no row, but must be acknowledged too. */
interface ReadEntries {
  readonly rows: readonly StreamRow[];
  readonly entries: readonly string[];
}

/** Identifies the stream of a feed; empty if no relay has begun it. */
export const bornOf = async (store: StoreConnection, { info }: FeedKeys): Promise<string> =>
  String((await store.send('HGET', [info, 'born'])) ?? '');

/**
 * Whether the store has lost a group. A place in no stream is that of a member that began before
 * any relay.
 */
export const hasLost = (place: GroupPlace | undefined, born: string): boolean =>
  place !== undefined && place.born !== born && (place.born !== '' || place.last !== null);

/** Reads the batches of a group as one of its members, on one connection. */
export class GroupReader {
  /** Whether the store has lost the group, and the next batch shows whether posts are missing. */
  #isLost = false;
  readonly #options: GroupOptions;
  readonly #store: StoreConnection;
  readonly #member: Membership;

  constructor(options: GroupOptions, store: StoreConnection, member: Membership) {
    this.#options = options;
    this.#store = store;
    this.#member = member;
  }

  /** Yields batches until the signal is aborted, or this member loses its lease. */
  async *events(signal: AbortSignal): AsyncGenerator<GroupReadEvent, void, void> {
    const ended = AbortSignal.any([this.#member.lost, signal]);
    yield* this.#join();
    yield* this.#unacknowledged(ended);
    yield* this.#new(ended);
  }

  async *#join(): AsyncGenerator<GroupReadEvent, void, void> {
    const { feed, name, start } = this.#options;
    const { work } = this.#member;
    const born = await bornOf(this.#store, feed);
    this.#isLost = hasLost(work.place, born);
    const from = this.#isLost ? '0' : (work.acknowledged ?? start);
    const gap = await joinGroup(this.#store, feed, name, from);
    const { last = null, verified = null } = work.place ?? {};
    if (this.#isLost) yield { kind: 'lost', from: last };
    else if (gap) yield { kind: 'gap', ...gap, from: this.#gapStart() };
    if (!this.#isLost) work.place = { born, last, verified };
  }

  /**
   * Posts after the verified time may follow the last post. In a shared group, other members have
   * read posts too.
   */
  #gapStart(): FeedPoint | null {
    const { last = null, verified = null } = this.#member.work.place ?? {};
    return this.#options.shared || verified === null ? last : { id: '', at: verified };
  }

  /**
   * What was not acknowledged. A member of a shared group reads as a new consumer, which has no
   * such entries.
   */
  async *#unacknowledged(ended: AbortSignal): AsyncGenerator<GroupReadEvent, void, void> {
    for (let from = '0'; ; ) {
      ended.throwIfAborted();
      const read = await this.#read(from, this.#options.batch);
      const last = read.entries.at(-1);
      if (last === undefined) return;
      if (read.rows.length > 0) yield* this.#deliver(read);
      // These were deleted or are not posts, so they can never be delivered.
      else await this.#acknowledge(read);
      from = last;
    }
  }

  async *#new(ended: AbortSignal): AsyncGenerator<GroupReadEvent, void, void> {
    const { clock, shared, abandonedMs = ABANDONED_MS } = this.#options;
    let claimAt = clock.mono();
    for (;;) {
      ended.throwIfAborted();
      if (shared && clock.mono() >= claimAt) {
        claimAt = clock.mono() + abandonedMs / 4;
        const abandoned = await this.#claimAbandoned();
        if (abandoned.rows.length > 0) yield* this.#deliver(abandoned);
      }
      const read = await this.#read('>', this.#options.batch, BLOCK_MS);
      if (read.entries.length > 0) yield* this.#deliver(await this.#fill(read, ended));
    }
  }

  /** The batches of members that show no sign of work on them any more. */
  async #claimAbandoned(): Promise<ReadEntries> {
    const { feed, name, batch, abandonedMs = ABANDONED_MS } = this.#options;
    const { consumer } = this.#member;
    const args = [feed.stream, name, consumer, abandonedMs, '0', 'COUNT', batch];
    const rows = readEntries(listReply(await this.#store.send('XAUTOCLAIM', args))[1]);
    return { rows, entries: rows.map(({ entry }) => entry) };
  }

  /** An incomplete batch waits for more rows. */
  async #fill(first: ReadEntries, ended: AbortSignal): Promise<ReadEntries> {
    const { clock, batch, lingerMs } = this.#options;
    const rows = [...first.rows];
    const entries = [...first.entries];
    const end = clock.mono() + lingerMs;
    while (entries.length < batch && clock.mono() < end) {
      await clock.sleep(Math.max(1, Math.min(100, end - clock.mono())), ended);
      const more = await this.#read('>', batch - entries.length);
      rows.push(...more.rows);
      entries.push(...more.entries);
    }
    return { rows, entries };
  }

  async #read(from: string, count: number, blockMs = 0): Promise<ReadEntries> {
    const { feed, name } = this.#options;
    const block = blockMs > 0 ? ['BLOCK', blockMs] : [];
    const group = ['GROUP', name, this.#member.consumer];
    const words = [...group, 'COUNT', count, ...block, 'STREAMS', feed.stream, from];
    const answer = await this.#store.send('XREADGROUP', words, blockMs);
    const [stream] = listReply(answer);
    const entries = listReply(listReply(stream)[1]).map((pair) => String(listReply(pair)[0]));
    return { rows: readStreams(answer), entries };
  }

  async *#deliver(read: ReadEntries): AsyncGenerator<GroupReadEvent, void, void> {
    const { feed, shared } = this.#options;
    const { work, lost } = this.#member;
    const [first] = read.rows;
    if (this.#isLost && first) yield await this.#findGap(first);
    if (work.place?.born === '')
      work.place = { ...work.place, born: await bornOf(this.#store, feed) };
    const done = new AbortController();
    work.isDelivering = true;
    if (shared) void this.#keepPending(read.entries, AbortSignal.any([done.signal, lost]));
    try {
      const ack = () => this.#acknowledge(read);
      yield { kind: 'batch', rows: read.rows, over: lost, ack };
    } finally {
      work.isDelivering = false;
      done.abort();
    }
  }

  /**
   * Only a member of an ordered group that has read the last post of a lost stream knows that no
   * post is missing.
   */
  async #findGap(to: StreamRow): Promise<GroupReadEvent> {
    const { feed, shared } = this.#options;
    const { work } = this.#member;
    const { last = null, verified = null } = work.place ?? {};
    this.#isLost = false;
    const from = this.#gapStart();
    work.place = { born: await bornOf(this.#store, feed), last, verified };
    const isNext = !shared && last !== null && last.id === to.prev;
    return isNext ? { kind: 'found' } : { kind: 'gap', missing: null, from, to };
  }

  /**
   * Notes that a batch was delivered, even if the store has lost it meanwhile, and acknowledges it.
   */
  async #acknowledge({ rows, entries }: ReadEntries): Promise<void> {
    const { work, ack } = this.#member;
    const end = rows.at(-1);
    if (end && work.place) {
      const { id, at, verified } = end;
      work.place = { ...work.place, last: { id, at }, verified: verified ?? work.place.verified };
    }
    if (work.place) this.#options.memory.save(work.place);
    await ack(entries);
    work.acknowledged = entries.at(-1) ?? work.acknowledged;
  }

  /**
   * Restarts the idle time of a batch that takes long. Otherwise, it would be given to another
   * member.
   */
  async #keepPending(entries: readonly string[], until: AbortSignal): Promise<void> {
    const { clock, abandonedMs = ABANDONED_MS } = this.#options;
    try {
      for (;;) {
        await clock.sleep(abandonedMs / 4, until);
        await this.#read(before(entries[0] ?? '0-0'), entries.length);
      }
    } catch {
      // Ignore the error: the batch is done, or the connection is lost and another member will get
      // the batch.
    }
  }
}
