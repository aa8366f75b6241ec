import type { Clock } from '../../base/clock.ts';
import type { StoreConnection } from '../connection.ts';
import { unusable } from '../failures.ts';
import type { FeedKeys } from '../keys.ts';
import { before, entryMs, isBefore, readEntries, readStreams, type StreamRow } from './entry.ts';
import { type Place, readPlace } from './place.ts';
import { type BeginAfter, type FeedPoint, placeAfter, type WalkedEntry } from './place-after.ts';

/**
 * How far back a follower reads if the entry of its position no longer exists. This time covers all entries that a
 * failover or power failure can remove.
 */
const LOOK_BACK_MS = 5 * 60_000;
const COUNT = 500;
/**
 * How many posts after a gap to report. With `--fill`, the gap is filled up to the newest of them, because the first
 * one may have appeared late, with a post time inside the gap. To fetch more posts would cost more than the smallest
 * page.
 */
const AHEAD = 20;
const BLOCK_MS = 5_000;
const RETRY_MS = 1_000;

/** The position of a follower: its last entry, and the ids of the posts that it delivered last. */
export interface FeedPosition {
  readonly entry: string;
  /** The last post that the follower read; null if it has read none. */
  readonly last: FeedPoint | null;
  /** The ids of delivered posts, with the times of their entries. */
  readonly known: readonly (readonly [id: string, entryMs: number])[];
  /** Identifies the stream of the entry, which is another one after the store has lost its data. */
  readonly born?: string | undefined;
}

/** Where a follower starts reading. */
export type Begin =
  | { readonly kind: 'now' }
  | { readonly kind: 'newest'; readonly rows: number }
  /**
   * At the entries that the store added half an hour before this post time or later. The caller skips posts that
   * are too old.
   */
  | { readonly kind: 'since'; readonly ms: number }
  | BeginAfter
  | { readonly kind: 'position'; readonly position: FeedPosition };

export type FollowEvent =
  | { readonly kind: 'rows'; readonly rows: readonly StreamRow[] }
  /**
   * The entries between these posts were deleted before they could be read; `from` is null if the follower has read
   * no post yet. `ahead` are the first posts that the store still has, from `to` on.
   */
  | {
      readonly kind: 'gap';
      readonly from: FeedPoint | null;
      readonly to: FeedPoint;
      readonly ahead: readonly FeedPoint[];
    }
  /**
   * The store has lost the feed. The follower waits for a relay that continues it; then comes a gap, or `found` if no
   * post is missing.
   */
  | { readonly kind: 'lost' }
  | { readonly kind: 'found' }
  /** The follower knows where it starts. */
  | { readonly kind: 'begun' }
  /** The follower has reached the end of the stream for the first time. */
  | { readonly kind: 'live' }
  | { readonly kind: 'away'; readonly why: string }
  | { readonly kind: 'back' };

export interface FollowerOptions {
  /** Opens a connection for this follower alone, because its reads block the connection. */
  readonly open: () => Promise<StoreConnection>;
  readonly feed: FeedKeys;
  readonly begin: Begin;
  readonly clock: Clock;
  readonly blockMs?: number | undefined;
}

/** Reads a feed from the store and delivers each post exactly once. */
export interface Follower {
  events(signal: AbortSignal): AsyncGenerator<FollowEvent, void, void>;
  /** The position after the last rows that `events` yielded; undefined until the follower has found where to start. */
  position(): FeedPosition | undefined;
}

/** The stream of posts that were delivered before it was known which stream has them. */
const FORMER = '?';
const HALF_HOUR_MS = 30 * 60_000;
const startOf = (ms: number) => `${Math.max(0, Math.floor(ms))}-0`;

export function createFollower({ open, feed, begin, clock, blockMs = BLOCK_MS }: FollowerOptions): Follower {
  /** The last entry that was read; undefined until the follower has found where to start. */
  let entry: string | undefined;
  let last: FeedPoint | null = null;
  let known = new Map<string, number>();
  /** The stream of `entry`; undefined if it is not known. */
  let born: string | undefined;
  let started = false;
  let live = false;
  /**
   * Where reading continues, and in which stream: at `entry`, or elsewhere if that entry was lost. `stream` is
   * undefined while the follower waits for a relay to begin the feed again.
   */
  let cursor = '0-0';
  let stream: string | undefined;
  let moved = false;
  let lost = false;

  if (begin.kind === 'position') {
    entry = begin.position.entry;
    last = begin.position.last;
    known = new Map(begin.position.known);
    born = begin.position.born;
    [cursor, stream] = [entry, born];
    started = true;
  }

  /** Removes ids that are too old to be read again. */
  const prune = () => {
    const horizon = entryMs(entry ?? '0') - 2 * LOOK_BACK_MS;
    for (const [id, ms] of known) {
      if (ms >= horizon) break;
      known.delete(id);
    }
  };

  const range = async (store: StoreConnection, from: string, count: number) =>
    readEntries(await store.send('XRANGE', [feed.stream, from, '+', 'COUNT', count]));

  const newest = async (store: StoreConnection, count: number) =>
    readEntries(await store.send('XREVRANGE', [feed.stream, '+', '-', 'COUNT', count])).reverse();

  const place = (store: StoreConnection) => readPlace(store, feed, entry ?? '0-0');

  /** Continues reading after an entry that need not exist. */
  function moveTo(after: string, of: string | undefined): void {
    [cursor, stream, moved] = [after, of, true];
  }

  /** Finds the entry after which the run starts reading. */
  async function find(store: StoreConnection): Promise<FollowEvent | undefined> {
    const { born: current, after } = await place(store);
    const [newestRow] = await newest(store, 1);
    // Without posts, it is not known yet whether the store has those since the start.
    if (begin.kind === 'since' && newestRow === undefined) return undefined;
    [born, stream] = [current, current];
    let gap: FollowEvent | undefined;
    if (begin.kind === 'after' && newestRow === undefined) {
      // The store has lost the delivered posts.
      [entry, last, known] = [
        '0-0',
        begin.last,
        new Map(begin.known.map(([id]) => [id, begin.last.at ?? 0])),
      ];
      [born, stream, started] = [FORMER, undefined, true];
      return undefined;
    }
    if (begin.kind === 'after') gap = await findLast(store, begin, after);
    else if (begin.kind === 'since') {
      entry = before(startOf(begin.ms - HALF_HOUR_MS));
      const ahead = await range(store, '-', AHEAD);
      const [oldest] = ahead;
      if (oldest && entryMs(oldest.entry) > begin.ms) gap = { kind: 'gap', from: null, to: oldest, ahead };
    } else if (begin.kind === 'newest') {
      const [first] = await newest(store, begin.rows);
      entry = first === undefined ? (newestRow?.entry ?? '0-0') : before(first.entry);
    } else entry = '0-0';
    moveTo(entry ?? '0-0', current);
    if (begin.kind === 'now' && newestRow) take([newestRow]);
    started = true;
    return gap;
  }

  /** Finds where to continue after the last delivered post. */
  async function findLast(store: StoreConnection, begin: BeginAfter, after: string) {
    const from = startOf(begin.floor - HALF_HOUR_MS);
    const walked: WalkedEntry[] = [];
    let found = false;
    // Set no state before the search is complete: if the connection breaks, the search starts again on the
    // next connection.
    for (let length = 1; length > 0 && !found; ) {
      const end = walked.at(-1)?.entry;
      const rows = await range(store, end === undefined ? from : `(${end}`, COUNT);
      for (const { entry, id, at } of rows) walked.push({ entry, id, at });
      found = rows.some(({ id }) => id === begin.last.id);
      length = rows.length;
    }
    const place = placeAfter(walked, begin);
    [entry, last, known] = [before(from), begin.last, new Map(place.known)];
    const gap = place.isFound ? undefined : await missed(store, after);
    entry = place.entry ?? before(from);
    return gap;
  }

  /** Returns a gap if entries after this follower's position were deleted. */
  async function missed(store: StoreConnection, after: string): Promise<FollowEvent | undefined> {
    const ahead = await range(store, '-', AHEAD);
    const [oldest] = ahead;
    if (!oldest || entry === undefined || !isBefore(entry, oldest.entry)) return undefined;
    if (known.has(oldest.id) || known.has(after) || (last === null && entry === '0-0')) return undefined;
    return { kind: 'gap', from: last, to: oldest, ahead };
  }

  /** Whether the position is no longer in the store, or it is not known yet where reading continues. */
  const isGone = ({ born: current, id }: Place) =>
    current !== stream || (!moved && last !== null && id !== last.id);

  /** Finds where reading continues if the entry of this follower's position no longer exists. */
  async function relocate(store: StoreConnection, place: Place): Promise<FollowEvent | undefined> {
    const { born: current, after, id } = place;
    const wasLost = lost;
    lost = false;
    const found = wasLost ? ({ kind: 'found' } as const) : undefined;
    if (born === undefined || born === current || (last !== null && id === last.id)) {
      // The stream is the same one, or was begun by a version of trdr that does not identify streams.
      born = current;
      moveTo(entry ?? '0-0', current);
      moved = id !== last?.id;
      if (!moved || last === null) return found;
      const gap = await missed(store, after);
      moveTo(before(startOf(entryMs(cursor) - LOOK_BACK_MS)), current);
      return gap ?? found;
    }
    const ahead = await range(store, '-', AHEAD);
    const [oldest] = ahead;
    // A follower that has found no stream at its start has missed nothing.
    const isNew = born === '' && last === null;
    const isComplete = isNew || known.has(after) || (oldest !== undefined && known.has(oldest.id));
    if (oldest === undefined && (current === '' || !isComplete)) {
      lost = true;
      moveTo('0-0', undefined);
      return wasLost ? undefined : { kind: 'lost' };
    }
    moveTo('0-0', current);
    return oldest && !isComplete ? { kind: 'gap', from: last, to: oldest, ahead } : found;
  }

  /** Returns the rows that were not delivered yet, and marks them as delivered. */
  function take(rows: readonly StreamRow[]): StreamRow[] {
    const fresh = rows.filter(({ id }) => !known.has(id));
    for (const row of rows) known.set(row.id, entryMs(row.entry));
    const end = rows.at(-1);
    if (end) {
      [entry, born, cursor, moved] = [end.entry, stream, end.entry, false];
      last = { id: end.id, at: end.at };
      prune();
    }
    return fresh;
  }

  async function* follow(
    store: StoreConnection,
    signal: AbortSignal,
  ): AsyncGenerator<FollowEvent, void, void> {
    // On a new connection, look first whether the position still exists.
    for (let block = 1; !signal.aborted; block = live ? blockMs : 1) {
      if (!started) yield (await find(store)) ?? { kind: 'begun' };
      const wanted = ['COUNT', COUNT, 'BLOCK', block, 'STREAMS', feed.stream, cursor];
      const rows = readStreams(await store.send('XREAD', wanted, block));
      // Entries count only if the one before them still exists. Otherwise, entries between them may be missing.
      const found = await place(store);
      if (started && isGone(found)) {
        const event = await relocate(store, found);
        if (event) yield event;
      } else if (started) {
        const fresh = take(rows);
        if (fresh.length > 0) yield { kind: 'rows', rows: fresh };
      }
      if (rows.length > 0 || live) continue;
      live = true;
      yield { kind: 'live' };
    }
  }

  return {
    async *events(signal) {
      let away = false;
      while (!signal.aborted) {
        let store: StoreConnection | undefined;
        const hangUp = () => store?.close();
        signal.addEventListener('abort', hangUp, { once: true });
        try {
          store = await open();
          if (signal.aborted) return;
          if (away) yield { kind: 'back' };
          away = false;
          yield* follow(store, signal);
        } catch (error) {
          if (signal.aborted) return;
          if (!unusable(error)) throw error;
          if (!away) yield { kind: 'away', why: error.message };
          away = true;
        } finally {
          signal.removeEventListener('abort', hangUp);
          store?.close();
        }
        await clock.sleep(RETRY_MS, signal).catch(() => {});
      }
    },
    position: () =>
      entry === undefined || !started
        ? undefined
        : {
            entry,
            last,
            ...(born !== undefined && { born }),
            known: [...known].filter(([, ms]) => ms >= entryMs(entry ?? '') - LOOK_BACK_MS),
          },
  };
}
