/** A stretch of time, from and to, on the clock of the arrivals. */
export type Stretch = readonly [from: number, to: number];

/**
 * The greatest number of arrivals within any window, by counting back from each arrival. Windows that touch an excluded
 * stretch do not count.
 */
export function greatest(
  times: readonly number[],
  windowMs: number,
  excluded: readonly Stretch[] = [],
): number {
  let [first, most] = [0, 0];
  for (const [place, at] of times.entries()) {
    while (at - (times[first] ?? at) >= windowMs) first++;
    if (!excluded.some(([from, to]) => from <= at && at - windowMs <= to))
      most = Math.max(most, place - first + 1);
  }
  return most;
}
