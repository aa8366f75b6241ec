import type { Slice } from './types.ts';

/** The records that a timeline starts with. Index 0 is the oldest record. Records are created on demand. */
export interface TimelineBase<T> {
  readonly count: number;
  /** The time of a record; it never decreases with the index. */
  time(index: number): number;
  indexOf(id: string): number | undefined;
  make(index: number, now: number): T;
}

/** A filtered feed: its name, and the indices of its records in the `TimelineBase`, in ascending order. */
export interface Selection {
  readonly key: string;
  readonly indices: Uint32Array | undefined;
}

/** A record that is added to a timeline in addition to the base. */
export interface Arrival<T> {
  readonly id: string;
  readonly time: number;
  /** The names of the filtered feeds that contain the record. */
  readonly keys: readonly string[];
  make(now: number): T;
}

/** Records ordered by time, read in pages from the newest to the oldest. */
export interface Timeline<T> {
  slice(selection: Selection | undefined, before: string | undefined, limit: number, now: number): Slice<T>;
  add(arrival: Arrival<T>): void;
  remove(id: string): void;
  withhold(id: string, untilMs: number): void;
  readonly count: number;
}

/** A position in the order of all records, which are ordered by time and then by arrival. */
interface Place {
  readonly time: number;
  readonly order: number;
}
interface Entry<T> extends Place {
  readonly id: string;
  make(now: number): T;
}

/** Binary search: returns how many of `size` ascending records come before `place`. */
function countBefore(
  size: number,
  place: Place,
  timeAt: (at: number) => number,
  orderAt: (at: number) => number,
): number {
  let low = 0;
  let high = size;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const time = timeAt(middle);
    if (time < place.time || (time === place.time && orderAt(middle) < place.order)) low = middle + 1;
    else high = middle;
  }
  return low;
}

const NEVER = Number.POSITIVE_INFINITY;

/** Merges an immutable base with the records added later, in the order of their times. */
export function createTimeline<T>(base: TimelineBase<T>): Timeline<T> {
  const all: Entry<T>[] = [];
  const byKey = new Map<string, Entry<T>[]>();
  const byId = new Map<string, Entry<T>>();
  /** The time until which each hidden record stays hidden, by its `order`; `NEVER` for removed records. */
  const hidden = new Map<number, number>();
  let arrivals = 0;
  let removed = 0;

  const find = (id: string): Place | undefined => {
    const entry = byId.get(id);
    if (entry) return entry;
    const index = base.indexOf(id);
    return index === undefined ? undefined : { time: base.time(index), order: index };
  };
  const hiddenAt = (order: number, now: number) => (hidden.get(order) ?? 0) > now;
  const findPresent = (id: string): Place | undefined => {
    const place = find(id);
    return place && hidden.get(place.order) !== NEVER ? place : undefined;
  };

  function insert(list: Entry<T>[], entry: Entry<T>): void {
    const newest = list.at(-1);
    if (!newest || newest.time <= entry.time) list.push(entry);
    else list.splice(upTo(list, entry), 0, entry);
  }
  const upTo = (list: readonly Entry<T>[], place: Place) =>
    countBefore(
      list.length,
      place,
      (at) => list[at]?.time ?? 0,
      (at) => list[at]?.order ?? 0,
    );

  return {
    slice(selection, before, limit, now) {
      let from: Place = { time: now, order: NEVER };
      if (before !== undefined) {
        // A cursor is a position in the order of all records, so a cursor from another feed is valid too.
        // Records that were removed, are hidden or are not posted yet are not valid cursors.
        const place = findPresent(before);
        if (!place || place.time > now || hiddenAt(place.order, now)) return null;
        from = place;
      }
      const list = (selection ? byKey.get(selection.key) : all) ?? [];
      const indices = selection?.indices;
      const orderAt = indices ? (at: number) => indices[at] ?? 0 : (at: number) => at;
      const size = selection ? (indices?.length ?? 0) : base.count;
      let older = countBefore(size, from, (at) => base.time(orderAt(at)), orderAt) - 1;
      let later = upTo(list, from) - 1;
      const items: T[] = [];
      while (older >= 0 || later >= 0) {
        const entry = list[later];
        const index = older < 0 ? -1 : orderAt(older);
        // If the times are equal, the added record counts as newer than the record of the base.
        if (entry && (index < 0 || entry.time >= base.time(index))) {
          later--;
          if (hiddenAt(entry.order, now)) continue;
          if (items.length === limit) return { items, hasMore: true };
          items.push(entry.make(now));
        } else {
          older--;
          if (hiddenAt(index, now)) continue;
          if (items.length === limit) return { items, hasMore: true };
          items.push(base.make(index, now));
        }
      }
      return { items, hasMore: false };
    },
    add(arrival) {
      // Ignore an id that already exists, so that a recording can be replayed twice without duplicate posts.
      if (findPresent(arrival.id)) return;
      const entry: Entry<T> = {
        id: arrival.id,
        time: arrival.time,
        order: base.count + arrivals++,
        make: arrival.make,
      };
      byId.set(entry.id, entry);
      insert(all, entry);
      for (const key of arrival.keys) {
        const list = byKey.get(key);
        if (list) insert(list, entry);
        else byKey.set(key, [entry]);
      }
    },
    remove(id) {
      const place = findPresent(id);
      if (!place) return;
      hidden.set(place.order, NEVER);
      removed++;
    },
    withhold(id, untilMs) {
      const place = findPresent(id);
      if (place) hidden.set(place.order, untilMs);
    },
    get count() {
      return base.count + arrivals - removed;
    },
  };
}

/** Counting sort of the numbers 0 to `count - 1` into groups. The numbers in a group are ascending. */
export function groupBy(
  count: number,
  groups: number,
  groupOf: (index: number) => number,
): (group: number) => Uint32Array {
  const starts = new Uint32Array(groups + 1);
  for (let index = 0; index < count; index++) {
    const next = groupOf(index) + 1;
    starts[next] = (starts[next] ?? 0) + 1;
  }
  for (let group = 0; group < groups; group++)
    starts[group + 1] = (starts[group + 1] ?? 0) + (starts[group] ?? 0);
  const ends = starts.slice();
  const members = new Uint32Array(count);
  for (let index = 0; index < count; index++) {
    const group = groupOf(index);
    const place = ends[group] ?? 0;
    members[place] = index;
    ends[group] = place + 1;
  }
  return (group) => members.subarray(starts[group], starts[group + 1]);
}

/** The base of a timeline that starts without records. */
export const emptyBase: TimelineBase<never> = {
  count: 0,
  time: () => 0,
  indexOf: () => undefined,
  make: () => {
    throw new RangeError('an empty base has no records');
  },
};
