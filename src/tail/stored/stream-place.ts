import { isRecord, type JsonObject } from '../../base/json-object.ts';
import { entryMs, type FeedPoint, type StreamRow } from '../../store/feed/entry.ts';
import type { Begin, FeedPosition } from '../../store/feed/start.ts';
import type { Position } from '../position.ts';
import { nthNewest, type PostMark } from '../post-row.ts';

// Where a follower continues in the stream of a feed, after what it has delivered.

/** Where an earlier run stopped, which may have read another feed, or pages of the service. */
export function beginAfter(position: Position, feedId: string): Begin {
  const { stream, ids, verified } = position;
  const place = stream && placeIn(stream, feedId);
  if (!place) return { kind: 'since', ms: (verified ?? -1) + 1, posts: ids };
  return {
    kind: 'position',
    position: withPosts(
      place,
      ids.map(([id, at]) => ({ id, at })),
    ),
  };
}

/** The place in the stream that a position has; undefined if it is damaged, or of another feed. */
function placeIn(stream: JsonObject, feedId: string): FeedPosition | undefined {
  const { feed, entry, last, known, verified, floor, hole } = stream;
  if (feed !== feedId || typeof entry !== 'string' || !/^\d+-\d+$/.test(entry)) return undefined;
  if (!Array.isArray(known) || !known.every(isKnown)) return undefined;
  const { id, at } = isRecord(last) ? last : {};
  return {
    entry,
    known,
    verified: numberIn(verified) ?? null,
    floor: numberIn(floor),
    last: typeof id === 'string' ? { id, at: numberIn(at) ?? null } : null,
    hole: typeof hole === 'string' ? hole : undefined,
  };
}

const numberIn = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : undefined;

const isKnown = (value: unknown): value is readonly [string, number] =>
  Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'number';

/** The post time before which a run prints nothing, because it was asked to begin there. */
export function floorOf(begin: Begin): number {
  return begin.kind === 'since' && !begin.posts ? begin.ms : Number.NEGATIVE_INFINITY;
}

/** The time just before the oldest of these posts; null if none has a time. */
export function beforeAll(rows: readonly PostMark[]): number | null {
  const oldest = nthNewest(
    rows.map(({ at }) => at),
    rows.length,
  );
  return oldest && oldest - 1;
}

/** The place before a post of the rows that were read after the place `reached`. */
export function beforePost(
  read: readonly StreamRow[],
  id: string,
  reached: FeedPosition | undefined,
): FeedPosition | undefined {
  const end = read.findIndex((row) => row.id === id);
  const last = read[end - 1];
  if (last === undefined) return reached;
  const entries = read.slice(0, end).map((row) => [row.id, entryMs(row.entry)] as const);
  return {
    ...reached,
    entry: last.entry,
    last: { id: last.id, at: last.at },
    verified: last.verified ?? reached?.verified ?? null,
    known: [...(reached?.known ?? []), ...entries],
  };
}

/**
 * Adds delivered posts. Their ids expire with their post times, but not before the newest id of the
 * place.
 */
function withPosts(place: FeedPosition, posts: readonly FeedPoint[]): FeedPosition {
  const newestMs = place.known.reduce(
    (newest, [, ms]) => Math.max(newest, ms),
    entryMs(place.entry),
  );
  const added = posts.map(({ id, at }) => [id, Math.max(newestMs, at ?? newestMs)] as const);
  return { ...place, known: [...place.known, ...added] };
}

/**
 * The place after the first posts of a gap. A later run finds the same gap, and fetches only the
 * other posts.
 */
export function afterFilled(place: FeedPosition, delivered: readonly PostMark[]): FeedPosition {
  const end = delivered.at(-1);
  if (end === undefined) return place;
  return {
    ...withPosts(place, delivered),
    last: { id: end.id, at: end.at },
    verified: end.at ?? place.verified,
  };
}
