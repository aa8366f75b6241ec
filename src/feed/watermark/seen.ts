/** The ids that came out, remembered by post time: from `floor` on, a row that is not held here is a new one. */
export interface Seen {
  /** Rows posted before this can't be told from known ones. */
  readonly floor: number;
  readonly size: number;
  has(id: string): boolean;
  /** Remembers an id; false when it is known. `near` is the time to take for a post without one. */
  add(id: string, at: number | null, near: number): boolean;
  /** Lets go of what was posted before `horizon`, which becomes the floor. */
  forget(horizon: number): void;
  /** Ids posted at or after `horizon`, and those without a time. */
  since(horizon: number): [id: string, at: number | null][];
}

/** Posts without a time stay at the same place of the pages for good, so they are remembered by number. */
const TIMELESS_MAX = 10_000;
/** Going through the ids is worth it for a step of this size. */
const STEP_MS = 5_000;

/**
 * Two generations: new ids go into one; at a turn the other is sifted, what must stay moves on, and the rest goes at
 * once with its map. Past `max` ids the older half is let go whatever its age, which shows in `floor`.
 */
export function createSeen(floor: number, max: number): Seen {
  let fresh = new Map<string, number>();
  let older = new Map<string, number>();
  const timeless = new Set<string>();
  let low = floor;

  const turn = (horizon: number) => {
    for (const [id, at] of older) if (at >= horizon) fresh.set(id, at);
    older = fresh;
    fresh = new Map();
    low = horizon;
  };

  const crowd = (near: number) => {
    let last = near;
    for (const at of older.values()) last = at;
    if (older.size > 0) low = Math.max(low, last + 1);
    older = fresh;
    fresh = new Map();
  };

  return {
    get floor() {
      return low;
    },
    get size() {
      return fresh.size + older.size + timeless.size;
    },
    has: (id) => fresh.has(id) || older.has(id) || timeless.has(id),
    add(id, at, near) {
      if (older.has(id) || (timeless.size > 0 && timeless.has(id))) return false;
      const before = fresh.size;
      fresh.set(id, at ?? near);
      if (fresh.size === before) return false;
      if (at === null) {
        fresh.delete(id);
        timeless.add(id);
        if (timeless.size > TIMELESS_MAX) for (const first of timeless) return timeless.delete(first);
      }
      if (fresh.size >= max / 2) crowd(near);
      return true;
    },
    forget(horizon) {
      if (horizon - low >= STEP_MS) turn(horizon);
    },
    since(horizon) {
      const kept: [string, number | null][] = [];
      for (const ids of [older, fresh]) for (const [id, at] of ids) if (at >= horizon) kept.push([id, at]);
      for (const id of timeless) kept.push([id, null]);
      return kept;
    },
  };
}
