/** Posts in the order of their times. */
export interface Feed<T> {
  /** From new to old; null if `before` is not the id of a shown post that matches. */
  slice(
    before: string | undefined,
    limit: number,
    now: number,
    matches?: (post: T) => boolean,
  ): { readonly items: T[]; readonly hasMore: boolean } | null;
  add(post: T): void;
  change(id: string, change: (post: T) => T): void;
  remove(id: string): void;
  /** Hides a post from pages until a time. Then the post appears below newer posts. */
  withhold(id: string, until: number): void;
  count(): number;
}

interface Row<T> {
  post: T;
  readonly time: number;
  hiddenUntil: number;
}

/** Among posts of the same time, the first one counts as the oldest. */
export function createFeed<T extends { readonly id: string }>(
  posts: readonly T[],
  timeOf: (post: T) => number | null,
): Feed<T> {
  const rowOf = (post: T): Row<T> => ({ post, time: timeOf(post) ?? 0, hiddenUntil: 0 });
  const rows = posts.map(rowOf).sort((one, other) => one.time - other.time);
  const byId = new Map(rows.map((row) => [row.post.id, row]));
  return {
    slice(before, limit, now, matches = () => true) {
      const isShown = (row: Row<T>) => row.time <= now && row.hiddenUntil <= now;
      // The description promises nothing for the id of a post that the feed does not have: one of
      // another feed, or one that is hidden or was deleted.
      const start = before === undefined ? undefined : byId.get(before);
      const isInFeed = start !== undefined && isShown(start) && matches(start.post);
      if (before !== undefined && !isInFeed) return null;
      const items: T[] = [];
      for (let at = start ? rows.lastIndexOf(start) : rows.length; at > 0; ) {
        const row = rows[--at];
        if (!row || !isShown(row) || !matches(row.post)) continue;
        if (items.length === limit) return { items, hasMore: true };
        items.push(row.post);
      }
      return { items, hasMore: false };
    },
    add(post) {
      // A recording can then be replayed twice without doubling its posts.
      if (byId.has(post.id)) return;
      const row = rowOf(post);
      byId.set(post.id, row);
      rows.splice(rows.findLastIndex(({ time }) => time <= row.time) + 1, 0, row);
    },
    change(id, change) {
      const row = byId.get(id);
      if (row) row.post = change(row.post);
    },
    remove(id) {
      const row = byId.get(id);
      if (row && byId.delete(id)) rows.splice(rows.lastIndexOf(row), 1);
    },
    withhold(id, until) {
      const row = byId.get(id);
      if (row) row.hiddenUntil = until;
    },
    count: () => rows.length,
  };
}
