/**
 * At least the `least` most recent ids. Dropping the older of two sets is cheaper than removing
 * single ids.
 */
export function createRecentSet(least: number) {
  let young = new Set<string>();
  let old = new Set<string>();
  const has = (id: string) => young.has(id) || old.has(id);
  return {
    has,
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
