/** The latest ids that were added: at least `least` of them, at most twice as many. */
export interface RecentSet {
  has(id: string): boolean;
  /** Remembers an id; false when it is known. */
  add(id: string): boolean;
}

/** Two generations, so that old ids are dropped as a whole set instead of one by one. */
export function createRecentSet(least: number): RecentSet {
  let young = new Set<string>();
  let old = new Set<string>();
  const has = (id: string) => young.has(id) || old.has(id);
  return {
    has,
    add(id) {
      if (has(id)) return false;
      if (young.size >= least) {
        old = young;
        young = new Set();
      }
      young.add(id);
      return true;
    },
  };
}
