import type { FeedPoint } from '../../store/feed/place-after.ts';
import type { PageSource } from '../../tail/ports.ts';
import type { TailRow } from '../../tail/row.ts';

/** How far before the start of the gap the walk also reads, for posts that appeared late in pages. */
const MARGIN_MS = 120_000;

/** Fetches the posts between two positions from the service, oldest first. */
export const fillFrom =
  (source: PageSource) =>
  async (from: FeedPoint | null, to: FeedPoint, signal: AbortSignal): Promise<readonly TailRow[]> => {
    const rows: TailRow[] = [];
    const low = from?.at === null || from === null ? Number.NEGATIVE_INFINITY : from.at - MARGIN_MS;
    for (let before: string | undefined = to.id; before !== undefined; ) {
      const page = await source.page({ before, limit: source.sizes.max }, signal);
      for (const row of page.rows) {
        if (row.id === from?.id || (row.at !== null && row.at < low)) return rows.reverse();
        rows.push(row);
      }
      before = page.hasMore && page.nextBefore !== null ? page.nextBefore : undefined;
    }
    return rows.reverse();
  };
