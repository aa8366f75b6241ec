import type { TailRow } from '../row.ts';
import { plausibleTimes } from '../seen/watermark.ts';

/**
 * Removes implausible post times from a page. Pages are sorted by post time, newest first. A time that
 * contradicts this order would end a walk too early or set a wrong watermark. Examples are seconds instead of
 * milliseconds, and a date years ahead. Such a post keeps its place, but counts as a post without a time. Its
 * `atMost` states that it is not newer than the nearest post above it that has a time.
 */
export function orderedRows(rows: readonly TailRow[], now: number): readonly TailRow[] {
  const times = plausibleTimes(
    rows.map(({ at }) => at),
    now,
  );
  const trusted = longestDescent(times);
  if (trusted.size === rows.length) return rows;
  let atMost: number | undefined;
  return rows.map((row, i) => {
    if (!trusted.has(i)) return { ...copyOf(row), at: null, atMost };
    atMost = row.at ?? undefined;
    return row;
  });
}

/** If times drop by this much at the end of a page, the next page must confirm the drop. */
const DROP_MS = 3_600_000;
const LAST_ROWS = 2;

/**
 * How many posts can be judged without the next page. For the remaining posts, only the next page shows
 * whether their times are plausible.
 */
export function settledRows(rows: readonly TailRow[]): number {
  const timed = rows.flatMap(({ at }, i) => (at === null ? [] : [{ at, i }]));
  for (let n = Math.max(1, timed.length - LAST_ROWS); n < timed.length; n++) {
    const [above, row] = [timed[n - 1], timed[n]];
    if (above && row && above.at - row.at > DROP_MS) return row.i;
  }
  return rows.length;
}

/** Copies a row without its time. Spreading the row would not copy the getters of its prototype. */
const copyOf = ({ id, record, raw }: TailRow) => ({ id, record, raw });

/** The indices of the longest non-ascending subsequence (patience sorting). */
function longestDescent(times: readonly (number | null)[]): ReadonlySet<number> {
  const ends: number[] = [];
  const before = new Map<number, number | undefined>();
  times.forEach((at, i) => {
    if (at === null) return;
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((times[ends[middle] ?? 0] ?? 0) >= at) low = middle + 1;
      else high = middle;
    }
    before.set(i, ends[low - 1]);
    ends[low] = i;
  });
  const indices = new Set<number>();
  for (let i = ends.at(-1); i !== undefined; i = before.get(i)) indices.add(i);
  return indices;
}
