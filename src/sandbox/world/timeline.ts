import type { Slice } from './types.ts';

/** The records a feed starts with: numbered from the oldest, made when asked for. */
export interface FeedBase<T> {
  readonly count: number;
  /** Never falls with the index. */
  time(index: number): number;
  indexOf(id: string): number | undefined;
  make(index: number, now: number): T;
}

/** Which records of the base a narrowed feed has: their indices, rising. */
export type Picked = Uint32Array | undefined;

/** A record that came after the base was made. */
interface Arrival<T> {
  readonly id: string;
  readonly time: number;
  /** The narrowed feeds that it is in. */
  readonly keys: readonly string[];
  make(now: number): T;
}

/** Records newest first by time, walked by ids. */
export interface Feed<T> {
  /** `picked` and `key` narrow; what is undefined does not. */
  slice(
    narrow: { readonly picked: Picked; readonly key: string } | undefined,
    before: string | undefined,
    limit: number,
    now: number,
  ): Slice<T>;
  add(arrival: Arrival<T>): void;
  remove(id: string): void;
  withhold(id: string, untilMs: number): void;
  readonly count: number;
}

/** A place in the whole order: by time, and within a millisecond by arrival. */
interface Place {
  readonly time: number;
  readonly order: number;
}
interface Entry<T> extends Place {
  readonly id: string;
  make(now: number): T;
}

/** The number of records, of `size` that rise, which stand before `place`. */
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

/** Merges a base that never changes with arrivals that do. */
export function createFeed<T>(base: FeedBase<T>): Feed<T> {
  const all: Entry<T>[] = [];
  const byKey = new Map<string, Entry<T>[]>();
  const byId = new Map<string, Entry<T>>();
  /** Until when a record is out of sight, by its order; removed ones for good. */
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
  const held = (id: string): Place | undefined => {
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
    slice(narrow, before, limit, now) {
      let from: Place = { time: now, order: NEVER };
      if (before !== undefined) {
        // A cursor is a place in the order of all records, whichever feed showed it: one that another feed
        // gave is known, and walks on from there. What was removed or is not yet visible is unknown.
        const place = held(before);
        if (!place || place.time > now || hiddenAt(place.order, now)) return null;
        from = place;
      }
      const { picked, key } = narrow ?? { picked: undefined, key: undefined };
      const list = (key === undefined ? all : byKey.get(key)) ?? [];
      const orderAt = picked ? (at: number) => picked[at] ?? 0 : (at: number) => at;
      const size = narrow ? (picked?.length ?? 0) : base.count;
      let older = countBefore(size, from, (at) => base.time(orderAt(at)), orderAt) - 1;
      let later = upTo(list, from) - 1;
      const items: T[] = [];
      while (older >= 0 || later >= 0) {
        const entry = list[later];
        const index = older < 0 ? -1 : orderAt(older);
        // In a tie what arrived stands above the base.
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
      // An id that is held already is left as it is: what is played again does not double.
      if (held(arrival.id)) return;
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
      const place = held(id);
      if (!place) return;
      hidden.set(place.order, NEVER);
      removed++;
    },
    withhold(id, untilMs) {
      const place = held(id);
      if (place) hidden.set(place.order, untilMs);
    },
    get count() {
      return base.count + arrivals - removed;
    },
  };
}

/** Sorts the numbers 0 to `count - 1` into groups; each group's members rise. */
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

/** A feed that starts with nothing. */
export const emptyBase: FeedBase<never> = {
  count: 0,
  time: () => 0,
  indexOf: () => undefined,
  make: () => {
    throw new RangeError('An empty feed has nothing to make.');
  },
};
