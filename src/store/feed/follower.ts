import type { StoreConnection } from '../connection.ts';
import type { FeedKeys } from '../keys.ts';
import {
  before,
  entryMs,
  type FeedPoint,
  isBefore,
  isBeginning,
  readEntries,
  readStreams,
  type StreamRow,
} from './entry.ts';
import { type Outage, type Reaching, reading } from './reconnect.ts';

/** Covers all entries that a failover or power failure can remove. */
const LOOK_BACK_MS = 5 * 60_000;
const COUNT = 500;
/** How many posts after a gap to report, up to which --fill fetches: more would cost more than the smallest page. */
const AHEAD = 20;
const BLOCK_MS = 5_000;
const MARK_MS = 10_000;

/** The position of a follower: its last entry, and the ids of the posts that it delivered last, also after `verified`. */
export interface FeedPosition {
  readonly entry: string;
  readonly last: FeedPoint | null;
  /** The post time up to which it has read every post; null if it is not known. */
  readonly verified: number | null;
  /** The ids of delivered posts, with the times of their entries. */
  readonly known: readonly (readonly [id: string, entryMs: number])[];
  /** Until the end of the stream is reached, posts before this time count as delivered. */
  readonly floor?: number | undefined;
  /** Posts may be missing before this entry, and no position of the leader has covered it yet. */
  readonly hole?: string | undefined;
}

export type Begin =
  | { readonly kind: 'now' }
  | { readonly kind: 'newest'; readonly rows: number }
  /** At this post time. The posts in `known` were delivered, and every older one. */
  | {
      readonly kind: 'since';
      readonly ms: number;
      readonly known?: readonly (readonly [id: string, at: number | null])[];
    }
  | { readonly kind: 'position'; readonly position: FeedPosition };

type FeedEvent =
  | { readonly kind: 'rows'; readonly rows: readonly StreamRow[] }
  /** These entries were deleted before they could be read. `ahead` is empty if later posts may be missing too. */
  | {
      readonly kind: 'gap';
      readonly from: FeedPoint | null;
      readonly to: FeedPoint;
      readonly ahead: readonly FeedPoint[];
    }
  /** The store has lost the feed. When a relay continues it, a gap follows, or `found` if no post is missing. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'found' }
  /** The follower knows where it starts; `times` are those of the newest posts in the store. */
  | { readonly kind: 'begun'; readonly times: readonly (number | null)[] }
  /** The follower has read all entries that this position of the leader covers, but for those of a hole. */
  | { readonly kind: 'mark'; readonly mark: string; readonly isAfterHole: boolean }
  /** The follower has reached the end of the stream, on this connection. */
  | { readonly kind: 'live' };

export type FollowEvent = FeedEvent | Outage;

interface Following extends Reaching {
  readonly feed: FeedKeys;
  readonly begin: Begin;
  readonly blockMs?: number | undefined;
  readonly marks?: boolean | undefined;
}

const HALF_HOUR_MS = 30 * 60_000;
/** However old they are: in a quiet feed, the last posts may be hours old. */
const LEAST_KNOWN = 20;
const startOf = (ms: number) => `${Math.max(0, Math.floor(ms))}-0`;

export function createFollower(following: Following) {
  const { feed, begin, clock, blockMs = BLOCK_MS, marks = false } = following;
  /** The last entry that was read; undefined until the follower has found where to start. */
  let entry: string | undefined;
  let last: FeedPoint | null = null;
  let verified: number | null = null;
  let known = new Map<string, number>();
  /** The entry after which reading continues: `entry`, or another one if `entry` was lost. */
  let cursor = '0-0';
  /** Whether the next entry certainly follows the delivered posts, because the follower has just found its start. */
  let isLinked = false;
  let lost = false;
  /** After a loss, posts before this time count as delivered, because a relay may publish them again. */
  let floor = Number.NEGATIVE_INFINITY;
  /** The same, until the end of the stream is reached. */
  let liveFloor: number | undefined;
  let hole: string | undefined;
  let markAt = Number.NEGATIVE_INFINITY;
  let markTo: unknown;

  if (begin.kind === 'position') {
    ({ entry, last, verified, hole, floor: liveFloor } = begin.position);
    known = new Map(begin.position.known);
    cursor = entry;
  }

  /** The time up to which older posts were delivered: of the last post or of its entry, because either clock may be wrong. */
  const deliveredMs = () => Math.min(entryMs(entry ?? '0'), last?.at ?? Number.POSITIVE_INFINITY);

  /** The time from which on posts may be read again, or missing: at least this long before the last post. */
  const horizonOf = (leastMs: number) => {
    const behindMs = verified === null ? 0 : (last?.at ?? entryMs(entry ?? '0')) - verified;
    return deliveredMs() - Math.max(leastMs, behindMs);
  };

  const prune = () => {
    const horizon = horizonOf(2 * LOOK_BACK_MS);
    for (const [id, ms] of known) {
      if (ms >= horizon || known.size <= LEAST_KNOWN) break;
      known.delete(id);
    }
  };

  const newest = async (store: StoreConnection, count: number) =>
    readEntries(await store.send('XREVRANGE', [feed.stream, '+', '-', 'COUNT', count])).reverse();

  /** Finds the entry after which the run starts reading. Returns a gap if the store no longer has what follows. */
  async function find(store: StoreConnection): Promise<FeedEvent[]> {
    const newestRows = await newest(store, 3);
    const begun: FeedEvent = { kind: 'begun', times: newestRows.map(({ at }) => at) };
    const newestRow = newestRows.at(-1);
    let gap: FeedEvent | undefined;
    // Nothing is missing from a stream that never had an entry.
    const prev = String((await store.send('HGET', [feed.info, 'last'])) ?? '');
    const [first] = begin.kind === 'newest' ? await newest(store, begin.rows) : [];
    const oldest =
      begin.kind === 'since'
        ? readEntries(await store.send('XRANGE', [feed.stream, '-', '+', 'COUNT', COUNT]))
        : [];
    // From here on, the start is known: a connection that breaks later does not change it.
    isLinked = true;
    entry = newestRow?.entry ?? '0-0';
    hole = prev === '' || isBeginning({ prev }) ? undefined : entry;
    if (begin.kind === 'now' && newestRow) take([newestRow]);
    if (first) entry = before(first.entry);
    if (begin.kind === 'since') gap = findTime(oldest, begin);
    cursor = entry;
    return gap ? [begun, gap] : [begun];
  }

  /** Finds the posts from a time on. The clocks of the server and of the service may differ by half an hour. */
  function findTime(
    rows: readonly StreamRow[],
    { ms, known: delivered = [] }: Extract<Begin, { kind: 'since' }>,
  ): FeedEvent | undefined {
    const [oldest] = rows;
    const from = ms - HALF_HOUR_MS;
    entry = oldest ? before(startOf(from)) : '0-0';
    liveFloor = ms;
    const newestAt = delivered.reduce((most, [, at]) => Math.max(most, at ?? 0), 0);
    known = new Map(delivered.map(([id, at]) => [id, at ?? newestAt]));
    if (delivered.length > 0) {
      const [id, at] = delivered.findLast(([, each]) => each === newestAt) ?? ['', null];
      last = { id, at };
      verified = ms - 1;
    }
    // Without posts, it is not known yet whether the store has those since the start.
    if (oldest === undefined) {
      isLinked = delivered.length === 0;
      return undefined;
    }
    if (isBeginning(oldest) || entryMs(oldest.entry) <= from) hole = undefined;
    const isFound = rows.some(({ id, prev }) => known.has(id) || known.has(prev));
    if (entryMs(oldest.entry) <= ms || isFound) return undefined;
    hole = oldest.entry;
    return {
      kind: 'gap',
      from: last && { id: '', at: verified },
      to: oldest,
      ahead: rows.slice(0, AHEAD),
    };
  }

  const hasEntry = async (store: StoreConnection) => {
    const [found] = readEntries(
      await store.send('XRANGE', [feed.stream, entry ?? '0-0', entry ?? '0-0']),
    );
    return found !== undefined && found.id === last?.id;
  };

  /** Checks whether the entry of this follower's position still exists; otherwise goes back in the stream. */
  async function verify(store: StoreConnection): Promise<FeedEvent | undefined> {
    if (isLinked || entry === undefined || last === null) return undefined;
    const wasLost = lost;
    const found = { kind: 'found' } as const;
    if (await hasEntry(store)) {
      [lost, cursor, floor] = [false, entry, Number.NEGATIVE_INFINITY];
      return wasLost ? found : undefined;
    }
    floor = horizonOf(LOOK_BACK_MS);
    const [newestRow] = await newest(store, 1);
    if (newestRow) {
      // The clock of a server that has taken over may be behind, so the end of the stream may be before the entry.
      const ms = Math.min(entryMs(entry), entryMs(newestRow.entry));
      cursor = before(startOf(ms - LOOK_BACK_MS));
      return undefined;
    }
    cursor = '0-0';
    lost = !known.has(String(await store.send('HGET', [feed.info, 'last'])));
    return lost === wasLost ? undefined : lost ? { kind: 'lost' } : found;
  }

  /** Returns a gap if entries between the delivered posts and these rows were deleted or lost. */
  async function link(
    store: StoreConnection,
    first: StreamRow,
    rows: readonly StreamRow[],
  ): Promise<FeedEvent | undefined> {
    const wasLost = lost;
    lost = false;
    // A leader that knew nothing has started the feed over, without the posts that were there then.
    const isNew = first.prev === '' || (isBeginning(first) && !known.has(first.prev));
    const isRead = known.get(first.id) === entryMs(first.entry);
    const isRepeated = known.has(first.id) || (first.at !== null && first.at < floor);
    // A follower that began before the feed can only miss posts that the store lost with the first of them.
    const isFirst = entry === '0-0' && known.size === 0 ? isNew : isLinked || last === null;
    const follows = isFirst || known.has(first.prev) || isRead || (isRepeated && !isNew);
    if (follows || (await hasEntry(store))) return wasLost ? { kind: 'found' } : undefined;
    const from = verified === null ? last : { id: '', at: verified };
    hole = first.entry;
    return {
      kind: 'gap',
      from,
      to: first,
      ahead: isNew || rows.length < AHEAD ? [] : rows.slice(0, AHEAD),
    };
  }

  /** Returns the rows that were not delivered yet, and marks them as delivered. */
  function take(rows: readonly StreamRow[]): StreamRow[] {
    const from = rows.findIndex(({ at }) => at !== null && at >= floor);
    const repeated = from === -1 ? rows.length : from;
    if (from !== -1) floor = Number.NEGATIVE_INFINITY;
    const isOld = (at: number | null) => at !== null && liveFloor !== undefined && at < liveFloor;
    const fresh = rows.filter(
      ({ id, at }, index) => !known.has(id) && !isOld(at) && (index >= repeated || at === null),
    );
    for (const row of rows) {
      if (isBeginning(row)) known.set(row.prev, entryMs(row.entry));
      known.set(row.id, entryMs(row.entry));
    }
    const end = rows.at(-1);
    if (end) {
      [entry, cursor, isLinked] = [end.entry, end.entry, false];
      last = { id: end.id, at: end.at };
      verified = end.verified ?? verified;
      prune();
    }
    return fresh;
  }

  /** Reads the position of the leader, if all entries that it covers were read. */
  async function readMark(store: StoreConnection): Promise<FeedEvent | undefined> {
    if (!marks || lost || entry === undefined || clock.mono() < markAt) return undefined;
    markAt = clock.mono() + MARK_MS;
    const to = await store.send('HGET', [feed.info, 'floor']);
    if (to === null || (to === markTo && hole === undefined)) return undefined;
    // The leader writes both at once. Read in this order, so that the entries may be those of a later position.
    const mark = await store.send('GET', [feed.mark]);
    const covered = await store.send('HGET', [feed.info, 'entry']);
    if (typeof mark !== 'string' || typeof covered !== 'string' || covered === '') return undefined;
    if (isBefore(entry, covered) || (hole !== undefined && isBefore(covered, hole)))
      return undefined;
    // The store may have lost the entries that were read.
    if (!(await hasEntry(store))) return undefined;
    const isAfterHole = hole !== undefined;
    [hole, markTo] = [undefined, to];
    return { kind: 'mark', mark, isAfterHole };
  }

  async function* follow(
    store: StoreConnection,
    signal: AbortSignal,
  ): AsyncGenerator<FeedEvent, void, void> {
    let [isIdle, live] = [true, false];
    while (!signal.aborted) {
      if (entry === undefined) yield* await find(store);
      else if (isIdle) {
        const event = await verify(store);
        if (event) yield event;
      }
      const block = live ? blockMs : 1;
      const wanted = ['COUNT', COUNT, 'BLOCK', block, 'STREAMS', feed.stream, cursor];
      const rows = readStreams(await store.send('XREAD', wanted, block));
      const [first] = rows;
      isIdle = first === undefined;
      if (first) {
        const gap = await link(store, first, rows);
        if (gap) yield gap;
        const fresh = take(rows);
        if (fresh.length > 0) yield { kind: 'rows', rows: fresh };
      }
      if (isIdle) liveFloor = undefined;
      const mark = isIdle || live ? await readMark(store) : undefined;
      if (mark) yield mark;
      if (!isIdle || live) continue;
      live = true;
      yield { kind: 'live' };
    }
  }

  return {
    events: (signal: AbortSignal) => reading(following, signal, (store) => follow(store, signal)),
    /** The position after the last rows that `events` yielded; undefined until the follower has found where to start. */
    position: (): FeedPosition | undefined =>
      entry === undefined
        ? undefined
        : {
            ...{ entry, last, verified, hole, floor: liveFloor },
            known: [...known].filter(
              ([, ms], at) => ms >= horizonOf(LOOK_BACK_MS) || at >= known.size - LEAST_KNOWN,
            ),
          },
  };
}
