/**
 * Remembers the latest ids, at least `size` and at most twice as many. `add` returns whether an id is new.
 */
export function recentIds(size: number): { add(id: string): boolean } {
  let current = new Set<string>();
  let previous = new Set<string>();
  return {
    add(id) {
      if (current.has(id) || previous.has(id)) return false;
      current.add(id);
      if (current.size >= size) {
        previous = current;
        current = new Set();
      }
      return true;
    },
  };
}
