import { Failure } from '../../base/failure.ts';
import type { StoreConnection } from '../connection.ts';
import type { FeedKeys } from '../keys.ts';
import { fieldsReply, listReply } from '../replies.ts';
import {
  before,
  type FeedPoint,
  isBefore,
  readEntries,
  readStreams,
  type StreamRow,
} from './entry.ts';
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
  open: boolean;
  /**
   * The last entry that was acknowledged. If the group was removed, the member creates it again
   * after this entry.
   */
  acknowledged: string | undefined;
  place: GroupPlace | undefined;
}

interface Member {
  readonly consumer: string;
  readonly ack: (entries: readonly string[]) => Promise<void>;
  readonly work: GroupWork;
  /**
   * Aborted when this member loses its lease or connection; another member then gets its batches.
   */
  readonly lost: AbortSignal;
}

type BatchEvent =
  | {
      readonly kind: 'batch';
      readonly rows: readonly StreamRow[];
      /**
       * Throws if this member of an ordered group is no longer active; the next one then delivers
       * the batch again.
       */
      readonly ack: () => Promise<void>;
      readonly over: AbortSignal;
    }
  /**
   * These entries were deleted before they were delivered; `missing` is null if the store has lost
   * the group.
   */
  | {
      readonly kind: 'gap';
      readonly missing: number | null;
      readonly from: FeedPoint | null;
      readonly to: FeedPoint;
    }
  /**
   * The store has lost the feed. With the next batch comes a gap, or `found` if no post is missing.
   */
  | { readonly kind: 'lost'; readonly from: FeedPoint | null }
  | { readonly kind: 'found' };

/** Identifies the stream of a feed; empty if no relay has begun it. */
export const bornOf = async (store: StoreConnection, { info }: FeedKeys): Promise<string> =>
  String((await store.send('HGET', [info, 'born'])) ?? '');

/**
 * Whether the store has lost a group. A place in no stream is that of a member that began before
 * any relay.
 */
export const hasLost = (place: GroupPlace | undefined, born: string): boolean =>
  place !== undefined && place.born !== born && (place.born !== '' || place.last !== null);

export async function* batches(
  options: GroupOptions,
  store: StoreConnection,
  { consumer, ack, work, lost }: Member,
  signal: AbortSignal,
): AsyncGenerator<BatchEvent, void, void> {
  const ended = AbortSignal.any([lost, signal]);
  const { feed, name, clock, batch, lingerMs, shared, abandonedMs = ABANDONED_MS } = options;
  const born = await bornOf(store, feed);
  let isLost = hasLost(work.place, born);
  const gap = await join(store, feed, name, isLost ? '0' : (work.acknowledged ?? options.start));
  const { last = null, verified = null } = work.place ?? {};
  // Posts after the verified time may follow the last post. In a shared group, other members have
  // read posts too.
  const from = shared || verified === null ? last : { id: '', at: verified };
  if (isLost) yield { kind: 'lost', from: last };
  else if (gap) yield { kind: 'gap', ...gap, from };
  if (!isLost) work.place = { born, last, verified };

  /**
   * Only a member of an ordered group that has read the last post of a lost stream knows that no
   * post is missing.
   */
  async function findGap(to: StreamRow): Promise<BatchEvent> {
    isLost = false;
    work.place = { born: await bornOf(store, feed), last, verified };
    const isNext = !shared && last !== null && last.id === to.prev;
    return isNext ? { kind: 'found' } : { kind: 'gap', missing: null, from, to };
  }

  const read = async (from: string, count: number, blockMs = 0) => {
    const block = blockMs > 0 ? ['BLOCK', blockMs] : [];
    const words = ['GROUP', name, consumer, 'COUNT', count, ...block, 'STREAMS', feed.stream, from];
    const answer = await store.send('XREADGROUP', words, blockMs);
    // Entries that are not posts must be acknowledged too.
    const [stream] = listReply(answer);
    const entries = listReply(listReply(stream)[1]).map((pair) => String(listReply(pair)[0]));
    return { rows: readStreams(answer), entries };
  };

  async function* deliver(
    rows: readonly StreamRow[],
    entries: readonly string[],
  ): AsyncGenerator<BatchEvent, void, void> {
    const [first] = rows;
    if (isLost && first) yield await findGap(first);
    if (work.place?.born === '') work.place = { ...work.place, born: await bornOf(store, feed) };
    const done = new AbortController();
    work.open = true;
    if (shared) void keepPending(entries, AbortSignal.any([done.signal, lost]));
    try {
      yield { kind: 'batch', rows, over: lost, ack: () => acknowledge(rows, entries) };
    } finally {
      work.open = false;
      done.abort();
    }
  }

  /**
   * Notes that a batch was delivered, even if the store has lost it meanwhile, and acknowledges it.
   */
  async function acknowledge(
    rows: readonly StreamRow[],
    entries: readonly string[],
  ): Promise<void> {
    const end = rows.at(-1);
    if (end && work.place) {
      const { id, at, verified } = end;
      work.place = { ...work.place, last: { id, at }, verified: verified ?? work.place.verified };
    }
    if (work.place) options.memory.save(work.place);
    await ack(entries);
    work.acknowledged = entries.at(-1) ?? work.acknowledged;
  }

  /**
   * Restarts the idle time of a batch that takes long. Otherwise, it would be given to another
   * member.
   */
  async function keepPending(entries: readonly string[], until: AbortSignal): Promise<void> {
    try {
      for (;;) {
        await clock.sleep(abandonedMs / 4, until);
        await read(before(entries[0] ?? '0-0'), entries.length);
      }
    } catch {
      // Ignore the error: the batch is done, or the connection is lost and another member will get
      // the batch.
    }
  }

  // First what was not acknowledged. A member of a shared group reads as a new consumer, which has
  // no such entries.
  for (let from = '0'; ; ) {
    ended.throwIfAborted();
    const { rows, entries } = await read(from, batch);
    const last = entries.at(-1);
    if (last === undefined) break;
    if (rows.length > 0) yield* deliver(rows, entries);
    // These were deleted or are not posts, so they can never be delivered.
    else await acknowledge(rows, entries);
    from = last;
  }
  let claimAt = clock.mono();
  for (;;) {
    ended.throwIfAborted();
    if (shared && clock.mono() >= claimAt) {
      claimAt = clock.mono() + abandonedMs / 4;
      const args = [feed.stream, name, consumer, abandonedMs, '0', 'COUNT', batch];
      const rows = readEntries(listReply(await store.send('XAUTOCLAIM', args))[1]);
      const entries = rows.map(({ entry }) => entry);
      if (rows.length > 0) yield* deliver(rows, entries);
    }
    let { rows, entries } = await read('>', batch, BLOCK_MS);
    if (entries.length === 0) continue;
    for (const end = clock.mono() + lingerMs; entries.length < batch && clock.mono() < end; ) {
      await clock.sleep(Math.max(1, Math.min(100, end - clock.mono())), ended);
      const more = await read('>', batch - entries.length);
      rows = [...rows, ...more.rows];
      entries = [...entries, ...more.entries];
    }
    yield* deliver(rows, entries);
  }
}

/**
 * Creates the group if it does not exist. Returns how many entries were deleted before the group
 * read them.
 */
async function join(
  store: StoreConnection,
  { stream }: FeedKeys,
  name: string,
  start: string,
): Promise<{ readonly missing: number; readonly to: FeedPoint } | undefined> {
  const exists = (await store.send('EXISTS', [stream])) === 1;
  const groups = exists
    ? listReply(await store.send('XINFO', ['GROUPS', stream])).map(fieldsReply)
    : [];
  const own = groups.find((group) => group.get('name') === name);
  if (own === undefined) {
    // Ignore BUSYGROUP: another member may have created the group at the same moment.
    await store
      .send('XGROUP', ['CREATE', stream, name, start, 'MKSTREAM'])
      .catch((error: unknown) => {
        const facts = error instanceof Failure ? error.facts : undefined;
        if (facts?.about !== 'reply' || facts.code !== 'BUSYGROUP') throw error;
      });
    return undefined;
  }
  const [first] = readEntries(await store.send('XRANGE', [stream, '-', '+', 'COUNT', 1]));
  if (first === undefined || !isBefore(own.get('last-delivered-id') ?? '0-0', first.entry))
    return undefined;
  const length = Number(await store.send('XLEN', [stream]));
  // Not the lag of the group: before Redis 7.4 it includes deleted entries, and since then it does
  // not.
  const added = Number(
    fieldsReply(await store.send('XINFO', ['STREAM', stream])).get('entries-added'),
  );
  const missing = added - length - Number(own.get('entries-read'));
  return missing > 0 ? { missing, to: first } : undefined;
}
