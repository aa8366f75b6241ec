import type { StoreConnection } from '../connection.ts';
import { storeFailure } from '../failures.ts';
import type { FeedKeys } from '../keys.ts';
import type { Delivered } from './delivered.ts';
import { readEntries, readStreams, type StreamRow } from './entry.ts';
import { isRestart, type StreamPlace } from './place.ts';
import { type Outage, type Reaching, reading } from './reconnect.ts';
import {
  AHEAD,
  type Begin,
  type FeedPosition,
  findStart,
  type MissingPosts,
  type Start,
  type StreamEnds,
  startAtPosition,
} from './start.ts';

const COUNT = 500;
const BLOCK_MS = 5_000;
const MARK_MS = 10_000;

interface RowsEvent {
  readonly kind: 'rows';
  readonly rows: readonly StreamRow[];
}

/** These entries were deleted before they could be read. */
export interface GapEvent extends MissingPosts {
  readonly kind: 'gap';
}

/**
 * The follower has read all entries that this position of the leader covers, but for those of a
 * hole.
 */
interface MarkEvent {
  readonly kind: 'mark';
  readonly mark: string;
  readonly isAfterHole: boolean;
}

type FeedEvent =
  | RowsEvent
  | GapEvent
  | MarkEvent
  /**
   * The store has lost the feed. When a relay continues it, a gap follows, or `found` if no post is
   * missing.
   */
  | { readonly kind: 'lost' }
  | { readonly kind: 'found' }
  /** The follower knows where it starts; `times` are those of the newest posts in the store. */
  | { readonly kind: 'begun'; readonly times: readonly (number | null)[] }
  /** The follower has reached the end of the stream, on this connection. */
  | { readonly kind: 'live' };

export type FollowEvent = FeedEvent | Outage;

interface Following extends Reaching {
  readonly feed: FeedKeys;
  readonly begin: Begin;
  readonly blockMs?: number | undefined;
  /** Whether to report the positions of the leader. */
  readonly marks?: boolean | undefined;
}

/**
 * Reads a feed from the store and delivers each post exactly once. What holds at each moment:
 *
 * 1. A post counts as delivered in the same step in which it is returned.
 * 2. Reading continues after the last entry only while the store still has it; otherwise some time
 *    before it, and what is read again is recognized.
 * 3. Each entry names the post before it. One that names an unread post, and was not read itself,
 *    comes after a gap, which is reported before its post.
 * 4. An empty stream shows no gap: the entry that comes next shows what is missing.
 * 5. A position of the leader is passed on only if all entries that it covers were read, and still
 *    exist.
 */
export class Follower {
  readonly #following: Following;
  readonly #feed: FeedKeys;
  /** Undefined until the follower has found where to start. */
  #start: Start | undefined;
  /** When to read the position of the leader again, and the floor of the last one that was read. */
  readonly #mark: { nextAt: number; floor: unknown } = {
    nextAt: Number.NEGATIVE_INFINITY,
    floor: undefined,
  };

  constructor(following: Following) {
    const { feed, begin } = following;
    this.#following = following;
    this.#feed = feed;
    if (begin.kind === 'position') this.#start = startAtPosition(begin.position);
  }

  events(signal: AbortSignal): AsyncGenerator<FollowEvent, void, void> {
    return reading(this.#following, signal, (store) => this.#follow(store, signal));
  }

  /** The position after the last rows that `events` yielded; undefined until the start is found. */
  position(): FeedPosition | undefined {
    if (this.#start === undefined) return undefined;
    const { place, delivered } = this.#start;
    return {
      entry: delivered.entry,
      last: delivered.last,
      verified: delivered.verified,
      hole: place.hole,
      floor: delivered.skippedUntil,
      known: delivered.recent(),
    };
  }

  async *#follow(
    store: StoreConnection,
    signal: AbortSignal,
  ): AsyncGenerator<FeedEvent, void, void> {
    let isIdle = true;
    let isLive = false;
    while (!signal.aborted) {
      if (this.#start === undefined) yield* this.#begin(await this.#ends(store));
      else if (isIdle) yield* await this.#verify(store, this.#start);
      const start = this.#start;
      if (start === undefined) return;
      const rows = await this.#read(store, start.place, isLive);
      isIdle = rows.length === 0;
      yield* await this.#link(store, start, rows);
      const fresh = start.delivered.take(rows);
      const end = rows.at(-1);
      if (end) start.place.advance(end.entry);
      if (fresh.length > 0) yield { kind: 'rows', rows: fresh };
      if (isIdle) {
        start.delivered.reachEnd();
        await checkMoved(store, this.#feed);
      }
      if (isIdle || isLive) yield* await this.#readMark(store, start);
      if (!isIdle || isLive) continue;
      isLive = true;
      yield { kind: 'live' };
    }
  }

  async #read(
    store: StoreConnection,
    { cursor }: StreamPlace,
    isLive: boolean,
  ): Promise<StreamRow[]> {
    const { blockMs = BLOCK_MS } = this.#following;
    const block = isLive ? blockMs : 1;
    const args = ['COUNT', COUNT, 'BLOCK', block, 'STREAMS', this.#feed.stream, cursor];
    return readStreams(await store.send('XREAD', args, block));
  }

  /** Reads what `findStart` needs. */
  async #ends(store: StoreConnection): Promise<StreamEnds> {
    const { begin } = this.#following;
    const newest = await this.#newest(store, 3);
    const last = await store.send('HGET', [this.#feed.info, 'last']);
    return { newest, first: await this.#first(store, begin), lastId: String(last ?? '') };
  }

  async #first(store: StoreConnection, begin: Begin): Promise<StreamRow[]> {
    if (begin.kind === 'newest') return await this.#newest(store, begin.rows);
    if (begin.kind !== 'since') return [];
    return readEntries(await store.send('XRANGE', [this.#feed.stream, '-', '+', 'COUNT', COUNT]));
  }

  async #newest(store: StoreConnection, count: number): Promise<StreamRow[]> {
    const args = [this.#feed.stream, '+', '-', 'COUNT', count];
    return readEntries(await store.send('XREVRANGE', args)).reverse();
  }

  /** Sets the start. A connection that breaks later does not change it. */
  *#begin(ends: StreamEnds): Generator<FeedEvent> {
    const { begin } = this.#following;
    if (begin.kind === 'position') return;
    this.#start = findStart(begin, ends);
    yield { kind: 'begun', times: ends.newest.map(({ at }) => at) };
    if (this.#start.gap) yield { kind: 'gap', ...this.#start.gap };
  }

  async #hasEntry(store: StoreConnection, { entry, last }: Delivered): Promise<boolean> {
    const [row] = readEntries(await store.send('XRANGE', [this.#feed.stream, entry, entry]));
    return row !== undefined && row.id === last?.id;
  }

  /** Checks whether the last entry still exists; otherwise goes back in the stream. */
  async #verify(store: StoreConnection, { place, delivered }: Start): Promise<FeedEvent[]> {
    if (place.isLinked || delivered.last === null) return [];
    if (await this.#hasEntry(store, delivered)) {
      delivered.keepEntry();
      return eventsOf(place.stay(delivered.entry));
    }
    delivered.loseEntry();
    const [newestRow] = await this.#newest(store, 1);
    if (newestRow) {
      place.goBack(delivered.entry, newestRow.entry);
      return [];
    }
    const lastId = String(await store.send('HGET', [this.#feed.info, 'last']));
    return eventsOf(place.startOver(delivered.has(lastId)));
  }

  /** Finds out whether posts are missing between what was delivered and these rows. */
  async #link(
    store: StoreConnection,
    { place, delivered }: Start,
    rows: readonly StreamRow[],
  ): Promise<FeedEvent[]> {
    const [first] = rows;
    if (first === undefined) return [];
    if (place.follows(first, delivered) || (await this.#hasEntry(store, delivered)))
      return eventsOf(place.join());
    place.missBefore(first.entry);
    const { verified, last } = delivered;
    const isUncertain = isRestart(first, delivered) || rows.length < AHEAD;
    return [
      {
        kind: 'gap',
        from: verified === null ? last : { id: '', at: verified },
        to: first,
        ahead: isUncertain ? [] : rows.slice(0, AHEAD),
      },
    ];
  }

  /** Reads the position of the leader, if all entries that it covers were read. */
  async #readMark(store: StoreConnection, { place, delivered }: Start): Promise<FeedEvent[]> {
    const { marks = false, clock } = this.#following;
    if (!marks || place.isLost || clock.mono() < this.#mark.nextAt) return [];
    this.#mark.nextAt = clock.mono() + MARK_MS;
    const to = await store.send('HGET', [this.#feed.info, 'floor']);
    if (to === null || (to === this.#mark.floor && place.hole === undefined)) return [];
    // The leader writes both at once. Read in this order, so that the entries may be those of a
    // later position.
    const mark = await store.send('GET', [this.#feed.mark]);
    const covered = await store.send('HGET', [this.#feed.info, 'entry']);
    if (typeof mark !== 'string' || typeof covered !== 'string' || covered === '') return [];
    if (!place.isCovered(covered, delivered.entry)) return [];
    // The store may have lost the entries that were read.
    if (!(await this.#hasEntry(store, delivered))) return [];
    this.#mark.floor = to;
    return [{ kind: 'mark', mark, isAfterHole: place.closeHole() }];
  }
}

/** Throws if the relays publish under another API key, so that no post would ever come. */
async function checkMoved(
  store: StoreConnection,
  { lease, moved }: Pick<FeedKeys, 'lease' | 'moved'>,
): Promise<void> {
  if ((await store.send('EXISTS', [moved])) !== 1) return;
  if ((await store.send('EXISTS', [lease])) === 1) return;
  throw storeFailure(
    'STORE_MOVED',
    'the API key of this feed was replaced, and no relay leads the feed any more',
    'run it again with the new key: files and checkpoints continue where they are',
  );
}

const eventsOf = (change: 'lost' | 'found' | undefined): FeedEvent[] =>
  change === undefined ? [] : [{ kind: change }];
