import { createRecentSet } from '../../base/recent-set.ts';

/**
 * Remembers which posts were printed: all posts with a post time of `floor` or later, and the latest of the older
 * posts.
 */
export interface Seen {
  /** The post time from which all printed posts are remembered. */
  readonly floor: number;
  /** The number of remembered ids of posts that are not older than `floor`, or have no post time. */
  readonly size: number;
  has(id: string): boolean;
  /** Remembers an id; returns false if it was remembered before. */
  add(id: string, at: number | null): boolean;
  /** Remembers the id of a post that is older than `floor`, without adding it to checkpoints. */
  recall(id: string): void;
  /** Raises the floor to `horizon`; a small change is skipped (see `STEP_MS`). */
  forget(horizon: number): void;
  /**
   * The ids of posts with a post time of `horizon` or later, of posts without a time, and of late posts that only
   * the WebSocket delivered.
   */
  since(horizon: number): [id: string, at: number | null][];
}

/**
 * How many ids of posts older than `floor` are remembered. They are needed because a frame may repeat a post
 * long after its post time.
 */
const OLDER_MAX = 20_000;
/** The maximum number of late ids in a checkpoint. */
const LATE_MAX = 1_000;

/** How many posts without a time are remembered. Their age is not known, so only their number is limited. */
const TIMELESS_MAX = 10_000;
/** The smallest change of the floor. Smaller changes are skipped, because each change scans all ids. */
const STEP_MS = 5_000;

/**
 * Ids in the order of arrival, with their times in a second array: a map would allocate an object for each time.
 */
interface Generation {
  readonly ids: Set<string>;
  readonly times: number[];
}

const generation = (): Generation => ({ ids: new Set(), times: [] });

/** The ids of posts with a post time of `horizon` or later, with these times. */
function* youngOf({ ids, times }: Generation, horizon: number): Generator<[id: string, at: number]> {
  let i = 0;
  for (const id of ids) {
    const at = times[i++] ?? horizon;
    if (at >= horizon) yield [id, at];
  }
}

/**
 * Remembers ids in two generations. New ids are added to the young generation. From time to time, the ids of
 * the old generation that are still needed are copied, and the old generation is dropped as a whole. If there
 * would be more than `max` ids, the old generation is dropped without copying any, which raises `floor`.
 */
export function createSeen(floor: number, max: number): Seen {
  let fresh = generation();
  let older = generation();
  const timeless = new Set<string>();
  const dropped = createRecentSet(OLDER_MAX);
  const late = new Map<string, number>();
  let low = floor;

  const turn = (horizon: number) => {
    let i = 0;
    for (const id of older.ids) {
      const at = older.times[i++] ?? horizon;
      if (at >= horizon) {
        fresh.ids.add(id);
        fresh.times.push(at);
      } else dropped.add(id);
    }
    older = fresh;
    fresh = generation();
    low = horizon;
  };

  const dropOlder = () => {
    const last = older.times.at(-1);
    if (last !== undefined) low = Math.max(low, last + 1);
    for (const id of older.ids) dropped.add(id);
    older = fresh;
    fresh = generation();
  };

  const addLate = (id: string, at: number): boolean => {
    if (fresh.ids.has(id) || !dropped.add(id)) return false;
    late.set(id, at);
    if (late.size > LATE_MAX) dropFirst(late);
    return true;
  };

  const addTimeless = (id: string) => {
    timeless.add(id);
    if (timeless.size > TIMELESS_MAX) dropFirst(timeless);
  };

  return {
    get floor() {
      return low;
    },
    get size() {
      return fresh.ids.size + older.ids.size + timeless.size;
    },
    has: (id) => fresh.ids.has(id) || older.ids.has(id) || timeless.has(id) || dropped.has(id),
    add(id, at) {
      if (older.ids.has(id) || (timeless.size > 0 && timeless.has(id))) return false;
      if (at !== null && at < low) return addLate(id, at);
      if (dropped.has(id)) return false;
      if (at === null) {
        if (fresh.ids.has(id)) return false;
        addTimeless(id);
        return true;
      }
      const before = fresh.ids.size;
      fresh.ids.add(id);
      if (fresh.ids.size === before) return false;
      fresh.times.push(at);
      if (before + 1 >= max / 2) dropOlder();
      return true;
    },
    recall: (id) => {
      dropped.add(id);
    },
    forget(horizon) {
      if (horizon - low >= STEP_MS) turn(horizon);
    },
    since(horizon) {
      const kept: [string, number | null][] = [...youngOf(older, horizon), ...youngOf(fresh, horizon)];
      for (const id of timeless) kept.push([id, null]);
      for (const [id, at] of late) if (at < horizon) kept.push([id, at]);
      return kept;
    },
  };
}

/** Removes the oldest entry: maps and sets iterate in the order of insertion. */
function dropFirst(from: Map<string, unknown> | Set<string>): void {
  for (const first of from.keys()) {
    from.delete(first);
    return;
  }
}
