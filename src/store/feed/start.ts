import { Delivered, type KnownEntries } from './delivered.ts';
import { before, entryMs, type FeedPoint, isBeginning, type StreamRow, startOf } from './entry.ts';
import { StreamPlace } from './place.ts';

/** The position of a follower: its last entry, and the ids of the posts that it delivered last. */
export interface FeedPosition {
  readonly entry: string;
  readonly last: FeedPoint | null;
  /** The post time up to which it has read every post; null if it is not known. */
  readonly verified: number | null;
  /** The ids of delivered posts, also after `verified`, with the times of their entries. */
  readonly known: KnownEntries;
  /** Until the end of the stream is reached, posts before this time count as delivered. */
  readonly floor?: number | undefined;
  /** Posts may be missing before this entry, and no position of the leader has covered it yet. */
  readonly hole?: string | undefined;
}

/** A start at a post time. Its `posts` were delivered, and every older one. */
export interface BeginSince {
  readonly kind: 'since';
  readonly ms: number;
  readonly posts?: readonly (readonly [id: string, at: number | null])[];
}

/** Where a follower starts reading. */
export type Begin =
  | { readonly kind: 'now' }
  | { readonly kind: 'newest'; readonly rows: number }
  | BeginSince
  | { readonly kind: 'position'; readonly position: FeedPosition };

/** What the store has when a follower starts. */
export interface StreamEnds {
  /** The newest rows, oldest first. */
  readonly newest: readonly StreamRow[];
  /** The rows from the start on, if it is at the newest rows or at a time. */
  readonly first: readonly StreamRow[];
  /** The id of the last post that the feed had, or its beginning; empty if it never had one. */
  readonly lastId: string;
}

/** Where a follower reads, what it has delivered, and the posts that it knows to be missing. */
export interface Start {
  readonly place: StreamPlace;
  readonly delivered: Delivered;
  readonly gap?: MissingPosts | undefined;
}

/** These entries were deleted before they could be read. */
export interface MissingPosts {
  readonly from: FeedPoint | null;
  readonly to: FeedPoint;
  /**
   * The posts after the gap, up to which they can be fetched; empty if later posts may be missing
   * too.
   */
  readonly ahead: readonly FeedPoint[];
}

/**
 * How many posts after a gap are reported, up to which --fill fetches: more would cost more than
 * the smallest page.
 */
export const AHEAD = 20;

/** The clocks of the server and of the service may differ by so much. */
const HALF_HOUR_MS = 30 * 60_000;

/** Continues from the position of an earlier run. */
export const startAtPosition = (position: FeedPosition): Start => ({
  place: new StreamPlace({ cursor: position.entry, hole: position.hole }),
  delivered: new Delivered({ ...position, skippedUntil: position.floor }),
});

/** Finds where a new follower starts. */
export function findStart(begin: Exclude<Begin, { kind: 'position' }>, ends: StreamEnds): Start {
  if (begin.kind === 'since') return startAtTime(begin, ends);
  const { newest, first, lastId } = ends;
  const newestRow = newest.at(-1);
  const end = newestRow?.entry ?? '0-0';
  const hole = holeBefore(end, lastId);
  const [firstRow] = first;
  if (begin.kind === 'newest' && firstRow) {
    const cursor = before(firstRow.entry);
    const place = new StreamPlace({ cursor, isLinked: true, hole });
    return { place, delivered: new Delivered({ entry: cursor }) };
  }
  const delivered = new Delivered({ entry: end });
  const isRead = begin.kind === 'now' && newestRow !== undefined;
  if (isRead) delivered.take([newestRow]);
  return { place: new StreamPlace({ cursor: end, isLinked: !isRead, hole }), delivered };
}

/**
 * Nothing is missing from a stream that never had an entry, or whose first entry is still to come.
 */
const holeBefore = (entry: string, lastId: string): string | undefined =>
  lastId === '' || isBeginning({ prev: lastId }) ? undefined : entry;

function startAtTime({ ms, posts = [] }: BeginSince, ends: StreamEnds): Start {
  const { newest, first: rows, lastId } = ends;
  const [oldest] = rows;
  const from = ms - HALF_HOUR_MS;
  const cursor = oldest ? before(startOf(from)) : '0-0';
  const delivered = deliveredBefore(cursor, ms, posts);
  const hole = holeBefore(newest.at(-1)?.entry ?? '0-0', lastId);
  // Without posts, it is not known yet whether the store has those since the start.
  if (oldest === undefined)
    return { place: new StreamPlace({ cursor, isLinked: posts.length === 0, hole }), delivered };
  const isComplete = isBeginning(oldest) || entryMs(oldest.entry) <= from;
  const isFound = rows.some(({ id, prev }) => delivered.has(id) || delivered.has(prev));
  if (entryMs(oldest.entry) <= ms || isFound) {
    const rest = isComplete ? undefined : hole;
    return { place: new StreamPlace({ cursor, isLinked: true, hole: rest }), delivered };
  }
  return {
    place: new StreamPlace({ cursor, isLinked: true, hole: oldest.entry }),
    delivered,
    gap: {
      from: delivered.last && { id: '', at: delivered.verified },
      to: oldest,
      ahead: rows.slice(0, AHEAD),
    },
  };
}

/** What was delivered before a start at a time: its posts, and every older one. */
function deliveredBefore(
  entry: string,
  ms: number,
  posts: NonNullable<BeginSince['posts']>,
): Delivered {
  const newestAt = posts.reduce((latest, [, at]) => Math.max(latest, at ?? 0), 0);
  const ids = posts.map(([id, at]) => [id, at ?? newestAt] as const);
  const state = { entry, known: ids, skippedUntil: ms };
  if (posts.length === 0) return new Delivered(state);
  const [id, at] = posts.findLast(([, time]) => time === newestAt) ?? ['', null];
  return new Delivered({ ...state, last: { id, at }, verified: ms - 1 });
}
