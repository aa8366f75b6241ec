/** Remembers the most recent ids: at least `least` of them, and at most twice as many. */
export interface RecentSet {
  has(id: string): boolean;
  /** Adds an id; returns false if it is already known. */
  add(id: string): boolean;
}

/**
 * Keeps two sets and drops the older one when the newer one is full, which is cheaper than removing single
 * ids.
 */
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
