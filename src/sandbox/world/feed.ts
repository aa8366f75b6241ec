/**
 * Creates a feed of posts in the order of their times. Among posts of the same time, the first one counts as the
 * oldest.
 */
export function createFeed<T extends { readonly id: string }>(
  posts: readonly T[],
  timeOf: (post: T) => number,
) {
  const rowOf = (post: T) => ({ post, time: timeOf(post), hiddenUntil: 0 });
  const rows = posts.map(rowOf).sort((one, other) => one.time - other.time);
  const byId = new Map(rows.map((row) => [row.post.id, row]));

  /** The number of posts until a time, which is also the place of a new post with this time. */
  function countUntil(time: number): number {
    let low = 0;
    let high = rows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((rows[middle]?.time ?? 0) <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    /**
     * Reads a page of the posts that match, from new to old; null if `before` is unknown or hidden. `before` may also be a
     * post that does not match: the page then starts with the next older post that matches.
     */
    slice(matches: (post: T) => boolean, before: string | undefined, limit: number, now: number) {
      const isShown = (row: (typeof rows)[number]) => row.time <= now && row.hiddenUntil <= now;
      let at = rows.length;
      if (before !== undefined) {
        const row = byId.get(before);
        if (!row || !isShown(row)) return null;
        at = rows.lastIndexOf(row, countUntil(row.time) - 1);
      }
      const items: T[] = [];
      while (at > 0) {
        const row = rows[--at];
        if (!row || !isShown(row) || !matches(row.post)) continue;
        if (items.length === limit) return { items, hasMore: true };
        items.push(row.post);
      }
      return { items, hasMore: false };
    },
    /** Adds a post. Ignores a post whose id already exists. */
    add(post: T): void {
      if (byId.has(post.id)) return;
      const row = rowOf(post);
      byId.set(post.id, row);
      rows.splice(countUntil(row.time), 0, row);
    },
    /** Deletes a post. Its id is then no longer a valid cursor. */
    remove(id: string): void {
      const row = byId.get(id);
      if (row && byId.delete(id)) rows.splice(rows.lastIndexOf(row), 1);
    },
    /** Hides a post from pages until a time. Then the post appears below newer posts. */
    withhold(id: string, until: number): void {
      const row = byId.get(id);
      if (row) row.hiddenUntil = until;
    },
    count: () => rows.length,
  };
}
