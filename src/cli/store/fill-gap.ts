import type { FeedPoint } from '../../store/feed/place-after.ts';
import type { PageSource } from '../../tail/ports.ts';
import type { TailRow } from '../../tail/row.ts';

/**
 * Fetches the posts between two positions from the service, and returns them oldest first. The walk ends at the
 * post of `from`. If that post was deleted, the walk ends at the next older post, so the result may include
 * posts of the same millisecond that were delivered before.
 */
export const fillFrom =
  (source: PageSource) =>
  async (from: FeedPoint | null, to: FeedPoint, signal: AbortSignal): Promise<readonly TailRow[]> => {
    const rows: TailRow[] = [];
    const low = from?.at ?? Number.NEGATIVE_INFINITY;
    // A page is priced by its limit, so begin with a small one: most gaps are small.
    let limit = source.sizes.step;
    for (let before: string | undefined = to.id; before !== undefined; ) {
      const page = await source.page({ before, limit }, signal);
      limit = Math.min(2 * limit, source.sizes.max);
      for (const row of page.rows) {
        if (row.id === from?.id || (row.at !== null && row.at < low)) return rows.reverse();
        rows.push(row);
      }
      before = page.hasMore && page.nextBefore !== null ? page.nextBefore : undefined;
    }
    return rows.reverse();
  };
