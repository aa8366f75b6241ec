/**
 * Remembers which posts were read, printed or not: all posts with a post time of `floor` or later, and the latest
 * of the older posts.
 */
export interface Seen {
  /** The post time from which all posts are remembered. */
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
 * At least this many ids of posts older than `floor` are remembered, because a frame may repeat a post long after
 * its post time.
 */
const OLDER_MAX = 20_000;
/** The maximum number of ids of late posts in a checkpoint. */
const LATE_MAX = 1_000;

/** How many posts without a time are remembered. Their age is not known, so only their number is limited. */
const TIMELESS_MAX = 10_000;
/** The smallest change of the floor. Smaller changes are skipped, because each change scans all ids. */
const STEP_MS = 5_000;

/**
 * One set holds all ids, because lookups in several large sets would be slower. The lists beside it say which ids
 * to remove first. Once `max` posts from `floor` on are remembered, the half that was added first is dropped, which
 * raises `floor`.
 */
export function createSeen(floor: number, max: number): Seen {
  const all = new Set<string>();
  // The posts from `low` on in the order of arrival. Two arrays need less memory than one array of pairs.
  let ids: string[] = [];
  let times: number[] = [];
  const timeless = new Set<string>();
  let dropped: string[] = [];
  const late = new Map<string, number>();
  let low = floor;

  const drop = (id: string) => {
    dropped.push(id);
    if (dropped.length < 2 * OLDER_MAX) return;
    // Remove many at a time, which is cheaper than removing single ids.
    for (const first of dropped.slice(0, OLDER_MAX)) all.delete(first);
    dropped = dropped.slice(OLDER_MAX);
  };

  const dropHalf = () => {
    const half = Math.ceil(max / 2);
    low = Math.max(low, (times[half - 1] ?? low) + 1);
    for (const id of ids.slice(0, half)) drop(id);
    ids = ids.slice(half);
    times = times.slice(half);
  };

  const addLate = (id: string, at: number) => {
    drop(id);
    late.set(id, at);
    if (late.size > LATE_MAX) removeFirst(late);
  };

  const addTimeless = (id: string) => {
    timeless.add(id);
    if (timeless.size > TIMELESS_MAX) all.delete(removeFirst(timeless) ?? '');
  };

  return {
    get floor() {
      return low;
    },
    get size() {
      return ids.length + timeless.size;
    },
    has: (id) => all.has(id),
    add(id, at) {
      const before = all.size;
      all.add(id);
      if (all.size === before) return false;
      if (at === null) addTimeless(id);
      else if (at < low) addLate(id, at);
      else {
        ids.push(id);
        times.push(at);
        if (ids.length >= max) dropHalf();
      }
      return true;
    },
    recall(id) {
      if (all.has(id)) return;
      all.add(id);
      drop(id);
    },
    forget(horizon) {
      if (horizon - low < STEP_MS) return;
      const [allIds, allTimes] = [ids, times];
      ids = [];
      times = [];
      for (const [i, id] of allIds.entries()) {
        const at = allTimes[i] ?? horizon;
        if (at < horizon) drop(id);
        else {
          ids.push(id);
          times.push(at);
        }
      }
      low = horizon;
    },
    since(horizon) {
      const found: [string, number | null][] = [];
      for (const [i, id] of ids.entries()) {
        const at = times[i] ?? horizon;
        if (at >= horizon) found.push([id, at]);
      }
      for (const id of timeless) found.push([id, null]);
      for (const [id, at] of late) if (at < horizon) found.push([id, at]);
      return found;
    },
  };
}

/** Removes the oldest entry, and returns its id: maps and sets iterate in the order of insertion. */
function removeFirst(from: Map<string, unknown> | Set<string>): string | undefined {
  for (const first of from.keys()) {
    from.delete(first);
    return first;
  }
  return undefined;
}
