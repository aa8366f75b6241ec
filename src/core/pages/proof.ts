/** So many posts decide about a time, because a single one may be dated wrongly. */
export const PROOF = 3;

/** Finds the place in a feed from which on all posts are beyond a time: several in a row are. */
export class Boundary {
  /** Whether posts in a row were beyond it; once reached, it stays reached. */
  isReached = false;
  /** How many posts in a row were beyond it, up to the last one. */
  run = 0;

  /** Takes the next post that has a time. */
  take(isBeyond: boolean): void {
    this.run = isBeyond ? this.run + 1 : 0;
    this.isReached ||= this.run >= PROOF;
  }
}

/** No post below these is newer than this time, as far as they show; undefined without times. */
export function boundBelow(times: readonly (number | null)[]): number | undefined {
  const last = times.filter((at) => at !== null).slice(-PROOF);
  return last.length === 0 ? undefined : Math.max(...last);
}
