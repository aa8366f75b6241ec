/** Remembers the newest ids, between `size` and twice as many, in two sets that take turns. */
export function recentIds(size: number): { add(id: string): boolean } {
  let young = new Set<string>();
  let old = new Set<string>();
  return {
    add(id) {
      if (young.has(id) || old.has(id)) return false;
      young.add(id);
      if (young.size >= size) {
        old = young;
        young = new Set();
      }
      return true;
    },
  };
}
