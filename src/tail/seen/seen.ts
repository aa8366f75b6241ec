import { createRecentSet } from '../../base/recent-set.ts';

/** The ids that were printed: all posted since `floor`, and the latest of the older ones. */
export interface Seen {
  /** Rows posted before this time may or may not have been printed. */
  readonly floor: number;
  /** The number of ids remembered by post time, and of those without one. */
  readonly size: number;
  has(id: string): boolean;
  /** Remembers an id; returns false if it is known. */
  add(id: string, at: number | null): boolean;
  /** Remembers an id from below the floor that checkpoints do not need. */
  recall(id: string): void;
  /** Raises the floor to `horizon`. */
  forget(horizon: number): void;
  /** Ids posted at or after `horizon`, ids without a time, and late ids that only the socket delivered. */
  since(horizon: number): [id: string, at: number | null][];
}

/** The number of remembered ids below the floor: a frame may repeat one long after its post. */
const OLDER_MAX = 20_000;
/** The number of late ids in a checkpoint. */
const LATE_MAX = 1_000;

/** The number of remembered posts without a time: pages always list them, so their age does not matter. */
const TIMELESS_MAX = 10_000;
/** The minimum step of the floor, because each step scans the ids. */
const STEP_MS = 5_000;

/** Ids in order of arrival, with their times in a parallel array: a map would need an object for each time. */
interface Generation {
  readonly ids: Set<string>;
  readonly times: number[];
}

const generation = (): Generation => ({ ids: new Set(), times: [] });

/** The ids posted at or after `horizon`, with their times. */
function* youngOf({ ids, times }: Generation, horizon: number): Generator<[id: string, at: number]> {
  let i = 0;
  for (const id of ids) {
    const at = times[i++] ?? horizon;
    if (at >= horizon) yield [id, at];
  }
}

/**
 * Keeps ids in two generations: new ids are added to one; at each turn the other is filtered and dropped as a whole.
 * Beyond `max` ids the older half is dropped regardless of its age, which raises `floor`.
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

/** Removes the oldest entry: sets and maps keep the order of insertion. */
function dropFirst(from: Map<string, unknown> | Set<string>): void {
  for (const first of from.keys()) {
    from.delete(first);
    return;
  }
}
