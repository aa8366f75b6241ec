import { createRecentSet } from '../../base/recent-set.ts';

/** The ids that were emitted: all that were posted since `floor`, and the latest of the older ones. */
export interface Seen {
  /** A row of a page posted before this cannot be told from one that was emitted. */
  readonly floor: number;
  /** Ids that are remembered by their post time, or because they have none. */
  readonly size: number;
  has(id: string): boolean;
  /** Remembers an id; false when it is known. */
  add(id: string, at: number | null): boolean;
  /** Remembers an id from below the floor that no checkpoint has to hold. */
  recall(id: string): void;
  /** Raises the floor to `horizon`. */
  forget(horizon: number): void;
  /** Ids posted at or after `horizon`, those without a time, and late ones that only the socket brought. */
  since(horizon: number): [id: string, at: number | null][];
}

/** Ids below the floor are remembered by number: a frame may repeat one long after its post. */
const OLDER_MAX = 20_000;
/** Late ids that a checkpoint holds. */
const LATE_MAX = 1_000;

/** Posts without a time stay at the same place of the pages for good, so they are remembered by number. */
const TIMELESS_MAX = 10_000;
/** Going through the ids is worth it for a step of this size. */
const STEP_MS = 5_000;

/** Ids in the order they came in, and their times beside them: a map would keep an object for each time. */
interface Generation {
  readonly ids: Set<string>;
  readonly times: number[];
}

const generation = (): Generation => ({ ids: new Set(), times: [] });

/** Ids posted at or after `horizon`, with their times. */
function* youngOf({ ids, times }: Generation, horizon: number): Generator<[id: string, at: number]> {
  let i = 0;
  for (const id of ids) {
    const at = times[i++] ?? horizon;
    if (at >= horizon) yield [id, at];
  }
}

/**
 * Two generations: new ids go into one; at a turn the other is filtered, what must stay moves on, and the rest is
 * dropped with its set. Past `max` ids the older half is dropped whatever its age, which raises `floor`.
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

  const crowd = () => {
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
      if (before + 1 >= max / 2) crowd();
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

/** Sets and maps keep the order in which they were filled. */
function dropFirst(from: Map<string, unknown> | Set<string>): void {
  for (const first of from.keys()) {
    from.delete(first);
    return;
  }
}
