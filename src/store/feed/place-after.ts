import { before, entryMs, type StreamRow } from './entry.ts';

/** Identifies a post: its id, and its post time (null if the service sent none). */
export interface FeedPoint {
  readonly id: string;
  readonly at: number | null;
}

/** A start after the last delivered post. */
export interface BeginAfter {
  readonly kind: 'after';
  readonly last: FeedPoint;
  /** The last delivered posts, `last` first: ids and post times. */
  readonly known: readonly (readonly [id: string, at: number | null])[];
  /**
   * `known` contains all delivered posts with this post time or a later one. -Infinity if the posts have no times; then
   * posts before the first known one count as delivered.
   */
  readonly floor: number;
}

export type WalkedEntry = Pick<StreamRow, 'entry' | 'id' | 'at'>;

/** Where a follower continues. */
interface Place {
  /** The entry after which reading starts; undefined if there are no entries. */
  readonly entry: string | undefined;
  /**
   * The posts that are skipped if they are read again: ids, with the times of their entries. If an entry no longer
   * exists, a late time stands for it, so that its id is remembered long enough.
   */
  readonly known: readonly (readonly [id: string, entryMs: number])[];
  /** Whether the store still has one of the known posts. */
  readonly isFound: boolean;
}

/**
 * Finds the place in the stream that follows the last delivered post. `walked` are the entries from some time
 * before this post to its entry, or to the end of the stream if its entry no longer exists.
 *
 * After a power failure, the last entries may no longer exist. If the next leader published them again, they may
 * come after posts that were not delivered yet. So all entries up to the newest delivered entry are checked, and
 * reading starts at the first entry that was not delivered.
 */
export function placeAfter(walked: readonly WalkedEntry[], { last, known, floor }: BeginAfter): Place {
  const ids = new Set(known.map(([id]) => id));
  const indexes = new Map(walked.map(({ id }, index) => [id, index]));
  const newest = known.find(([id]) => indexes.has(id))?.[0];
  const read = newest === undefined ? walked : walked.slice(0, (indexes.get(newest) ?? 0) + 1);
  const first = read.findIndex(({ id }) => ids.has(id));
  // Posts before `floor` count as delivered; without post times, the posts before the first known post do.
  const isOlder = (at: number | null, index: number) =>
    at === null || floor === Number.NEGATIVE_INFINITY ? index < first : at < floor;
  const delivered = read.map(({ id, at }, index) => ids.has(id) || isOlder(at, index));
  const missing = read[delivered.indexOf(false)];
  const end = read.at(-1)?.entry;
  const again = new Map(
    read.flatMap(({ id, entry }, index) => (delivered[index] ? [[id, entryMs(entry)]] : [])),
  );
  const latest = Math.max(last.at ?? 0, entryMs(end ?? '0'));
  for (const id of ids) if (!again.has(id)) again.set(id, latest);
  return {
    entry: missing === undefined ? end : before(missing.entry),
    known: [...again],
    isFound: newest !== undefined,
  };
}
