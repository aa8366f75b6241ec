import type { Clock } from '../../base/clock.ts';
import type { StoreConnection } from '../connection.ts';
import type { FeedKeys } from '../keys.ts';
import { before, isBefore, readEntries, readStreams, type StreamRow } from './entry.ts';

const BLOCK_MS = 2_000;
/** Posts that a member of a shared group has not acknowledged for this long are given to another member. */
const ABANDONED_MS = 60_000;

export interface GroupOptions {
  /** Opens a separate connection, because reads block on it. */
  readonly open: () => Promise<StoreConnection>;
  readonly feed: FeedKeys;
  readonly name: string;
  /** Several members read at once, without an order; otherwise one is active and the others stand by. */
  readonly shared: boolean;
  readonly machine: string;
  readonly clock: Clock;
  /** Maximum rows of a batch, and how long a batch waits to fill up. */
  readonly batch: number;
  readonly lingerMs: number;
  /** Where a new group starts: at new posts (`$`) or at the oldest (`0`). */
  readonly start: '$' | '0';
  readonly leaseMs?: number | undefined;
  readonly abandonedMs?: number | undefined;
}

export type GroupEvent =
  | {
      readonly kind: 'batch';
      readonly rows: readonly StreamRow[];
      /**
       * Acknowledges the batch. Throws if it was given to another member meanwhile: then it is delivered
       * again.
       */
      readonly ack: () => Promise<void>;
      /** Aborted when the batch no longer belongs to this member. */
      readonly over: AbortSignal;
    }
  /** This many entries were deleted before they were delivered. */
  | { readonly kind: 'gap'; readonly missing: number }
  | { readonly kind: 'standby' }
  | { readonly kind: 'active' }
  | { readonly kind: 'away'; readonly why: string }
  | { readonly kind: 'back' };

/** Whether a batch was handed out and is still in progress. */
export interface GroupWork {
  open: boolean;
}

/** How a member reads and acknowledges batches. */
export interface Membership {
  readonly options: GroupOptions;
  readonly store: StoreConnection;
  readonly consumer: string;
  readonly ack: (entries: readonly string[]) => Promise<void>;
  readonly work: GroupWork;
  /** Aborted when the batches of this member are given to another one. */
  readonly lost: AbortSignal;
  readonly signal: AbortSignal;
}

/** The batches of a member, until it loses its membership. */
export async function* batches({
  options,
  store,
  consumer,
  ack,
  work,
  lost,
  signal,
}: Membership): AsyncGenerator<GroupEvent, void, void> {
  const ended = AbortSignal.any([lost, signal]);
  const { feed, name, clock, batch, lingerMs, shared, abandonedMs = ABANDONED_MS } = options;
  const missing = await join(options, store);
  if (missing > 0) yield { kind: 'gap', missing };
  const read = async (from: string, count: number, blockMs: number) => {
    const block = blockMs > 0 ? ['BLOCK', blockMs] : [];
    const words = ['GROUP', name, consumer, 'COUNT', count, ...block, 'STREAMS', feed.stream, from];
    const answer = await store.send('XREADGROUP', words, blockMs);
    return { rows: readStreams(answer), entries: entriesOf(answer) };
  };
  async function* deliver(
    rows: readonly StreamRow[],
    entries: readonly string[],
  ): AsyncGenerator<GroupEvent, void, void> {
    const done = new AbortController();
    work.open = true;
    if (shared) void keepPending(entries, AbortSignal.any([done.signal, lost]));
    try {
      yield { kind: 'batch', rows, over: lost, ack: () => ack(entries) };
    } finally {
      work.open = false;
      done.abort();
    }
  }

  /** Reading a pending entry again restarts its idle time, so that a slow batch is not given to another member. */
  const keepPending = async (entries: readonly string[], until: AbortSignal) => {
    try {
      for (;;) {
        await clock.sleep(abandonedMs / 4, until);
        await read(before(entries[0] ?? '0-0'), entries.length, 0);
      }
    } catch {
      // The batch is done, or the connection is lost; in that case, the batch is given to another member.
    }
  };

  // Entries that were delivered and not acknowledged come first, in their order.
  for (let from = '0'; ; ) {
    ended.throwIfAborted();
    const { rows, entries } = await read(from, batch, 0);
    const last = entries.at(-1);
    if (last === undefined) break;
    if (rows.length > 0) yield* deliver(rows, entries);
    // Entries that were deleted meanwhile can no longer be delivered.
    else await ack(entries);
    from = last;
  }
  let claimAt = clock.mono();
  for (;;) {
    ended.throwIfAborted();
    if (shared && clock.mono() >= claimAt) {
      claimAt = clock.mono() + abandonedMs / 4;
      const answer = listOf(
        await store.send('XAUTOCLAIM', [feed.stream, name, consumer, abandonedMs, '0', 'COUNT', batch]),
      );
      const rows = readEntries(answer[1]);
      if (rows.length > 0)
        yield* deliver(
          rows,
          rows.map(({ entry }) => entry),
        );
    }
    const first = await read('>', batch, BLOCK_MS);
    let { rows, entries } = first;
    if (entries.length === 0) continue;
    for (const end = clock.mono() + lingerMs; entries.length < batch && clock.mono() < end; ) {
      await clock.sleep(Math.max(1, Math.min(100, end - clock.mono())), ended);
      const more = await read('>', batch - entries.length, 0);
      rows = [...rows, ...more.rows];
      entries = [...entries, ...more.entries];
    }
    yield* deliver(rows, entries);
  }
}

/**
 * Creates the group if it does not exist, and returns how many entries were trimmed before the group read
 * them.
 */
async function join({ feed, name, start }: GroupOptions, store: StoreConnection): Promise<number> {
  const exists = (await store.send('EXISTS', [feed.stream])) === 1;
  const groups = exists ? listOf(await store.send('XINFO', ['GROUPS', feed.stream])).map(fieldsOf) : [];
  const own = groups.find((group) => group.get('name') === name);
  if (own === undefined) {
    // Another member may create it at the same moment, which is harmless.
    await store.send('XGROUP', ['CREATE', feed.stream, name, start, 'MKSTREAM']).catch((error: unknown) => {
      if (!(error instanceof Error) || !error.message.includes('BUSYGROUP')) throw error;
    });
    return 0;
  }
  const [first] = readEntries(await store.send('XRANGE', [feed.stream, '-', '+', 'COUNT', 1]));
  const read = String(own.get('last-delivered-id') ?? '0-0');
  if (first === undefined || !isBefore(read, first.entry)) return 0;
  return Math.max(0, Number(own.get('lag') ?? 0) - Number(await store.send('XLEN', [feed.stream])));
}

const listOf = (answer: unknown): readonly unknown[] => (Array.isArray(answer) ? answer : []);

/** Ids of all delivered entries. Those that are not posts are acknowledged too. */
function entriesOf(answer: unknown): string[] {
  const [stream] = listOf(answer);
  return listOf(listOf(stream)[1]).map((pair) => String(listOf(pair)[0]));
}

function fieldsOf(group: unknown): Map<string, unknown> {
  const flat = listOf(group);
  const fields = new Map<string, unknown>();
  for (let at = 0; at + 1 < flat.length; at += 2) fields.set(String(flat[at]), flat[at + 1]);
  return fields;
}
