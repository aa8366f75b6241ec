/** The ids that came out, remembered by post time: from `floor` on, a row that is not held here is a new one. */
export interface Seen {
  /** Rows posted before this can't be told from known ones. */
  readonly floor: number;
  readonly size: number;
  has(id: string): boolean;
  /** Remembers an id; false when it is known. */
  add(id: string, at: number | null): boolean;
  /** Lets go of what was posted before `horizon`, which becomes the floor. */
  forget(horizon: number): void;
  /** Ids posted at or after `horizon`, and those without a time. */
  since(horizon: number): [id: string, at: number | null][];
}

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
 * Two generations: new ids go into one; at a turn the other is sifted, what must stay moves on, and the rest goes at
 * once with its set. Past `max` ids the older half is let go whatever its age, which shows in `floor`.
 */
export function createSeen(floor: number, max: number): Seen {
  let fresh = generation();
  let older = generation();
  const timeless = new Set<string>();
  let low = floor;

  const turn = (horizon: number) => {
    for (const [id, at] of youngOf(older, horizon)) {
      fresh.ids.add(id);
      fresh.times.push(at);
    }
    older = fresh;
    fresh = generation();
    low = horizon;
  };

  const crowd = () => {
    const last = older.times.at(-1);
    if (last !== undefined) low = Math.max(low, last + 1);
    older = fresh;
    fresh = generation();
  };

  const addTimeless = (id: string) => {
    timeless.add(id);
    if (timeless.size <= TIMELESS_MAX) return;
    for (const first of timeless) {
      timeless.delete(first);
      break;
    }
  };

  return {
    get floor() {
      return low;
    },
    get size() {
      return fresh.ids.size + older.ids.size + timeless.size;
    },
    has: (id) => fresh.ids.has(id) || older.ids.has(id) || timeless.has(id),
    add(id, at) {
      if (older.ids.has(id) || (timeless.size > 0 && timeless.has(id))) return false;
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
    forget(horizon) {
      if (horizon - low >= STEP_MS) turn(horizon);
    },
    since(horizon) {
      const kept: [string, number | null][] = [...youngOf(older, horizon), ...youngOf(fresh, horizon)];
      for (const id of timeless) kept.push([id, null]);
      return kept;
    },
  };
}
