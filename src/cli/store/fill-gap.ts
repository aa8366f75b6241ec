import type { Clock } from '../../base/clock.ts';
import type { Client } from '../../contract/ports.ts';
import { type TimedFeed, walkPages } from '../../core/pages/walk.ts';
import type { FeedPoint } from '../../store/feed/place-after.ts';
import type { PageSource } from '../../tail/ports.ts';
import type { TailRow } from '../../tail/row.ts';

/**
 * Fetches the posts between two positions from the service, and returns them oldest first. The walk ends at the
 * post of `from`. If that post was deleted, the walk ends below its post time, so the result may include posts of the
 * same millisecond that were delivered before.
 */
export const fillFrom =
  ({ page, stepCu, sizes }: PageSource, { affords }: Pick<Client, 'affords'>, clock: Clock) =>
  async (from: FeedPoint | null, to: FeedPoint, signal: AbortSignal): Promise<readonly TailRow[]> => {
    const feed: TimedFeed<TailRow> = {
      async page(before = to.id, limit = sizes.step) {
        const { rows: items, hasMore, nextBefore } = await page({ before, limit }, signal);
        return { items, hasMore, nextBefore };
      },
      idOf: ({ id }) => id,
      timeOf: ({ at }) => at,
      affords: sizes.max > sizes.step ? (rows) => affords(stepCu * Math.ceil(rows / sizes.step)) : undefined,
    };
    const rows: TailRow[] = [];
    const range = { before: to.id, since: from?.at ?? undefined };
    for await (const row of walkPages(feed, { ...range, clock, signal })) {
      if (row.id === from?.id) break;
      rows.push(row);
    }
    return rows.reverse();
  };
