/**
 * Remembers the most recent ids: at least `least` of them, and at most twice as many. Stores the ids in two sets. When the newer set is full, the older set is dropped, which is cheaper than removing
 * single ids.
 */
export function createRecentSet(least: number) {
  let young = new Set<string>();
  let old = new Set<string>();
  const has = (id: string) => young.has(id) || old.has(id);
  return {
    has,
    /** Adds an id; returns false if the id was already in the set. */
    add(id: string): boolean {
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
