import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import type { Client } from '../../contract/ports/client.ts';
import { type TimedFeed, type WalkOptions, walkPages } from '../../core/pages/walk.ts';
import { entryMs, type FeedPoint } from '../../store/feed/entry.ts';
import type { FollowEvent } from '../../store/feed/follower.ts';
import type { FeedPosition } from '../../store/feed/start.ts';
import type { PageSource } from '../ports.ts';
import type { TailRow } from '../post-row.ts';

export type GapFilling = ReturnType<typeof createFilling>;

type Gap = Extract<FollowEvent, { kind: 'gap' }>;

/** The posts below a cursor, or from the newest page on, down to a post time. */
type Range = Pick<WalkOptions, 'before' | 'since' | 'until'>;

export function createFilling(
  { page, stepCu, sizes }: PageSource,
  { affords }: Pick<Client, 'affords'>,
  clock: Clock,
) {
  const filled = new Set<string>();

  async function* read({ before, ...range }: Range, signal: AbortSignal) {
    const feed: TimedFeed<TailRow> = {
      async page(cursor = before, limit = sizes.step) {
        const from = cursor === undefined ? {} : { before: cursor };
        const { rows: items, hasMore, nextBefore } = await page({ ...from, limit }, signal);
        return { items, hasMore, nextBefore };
      },
      idOf: ({ id }) => id,
      timeOf: ({ at }) => at,
      affords:
        sizes.max > sizes.step
          ? (rows) => affords(stepCu * Math.ceil(rows / sizes.step))
          : undefined,
    };
    try {
      yield* walkPages(feed, { before, ...range, clock, signal, doubtsEnd: true });
    } catch (error) {
      // Believe the end of the feed after several answers.
      if (!(error instanceof Failure) || error.code !== 'FEED_ENDED') throw error;
    }
  }

  return {
    /** Whether a post was fetched. The store may still have it, because it appeared late, and must not deliver it again. */
    has: (id: string): boolean => filled.has(id),
    /** The posts of a gap that the follower at this position has not delivered, oldest first. */
    async rows(
      { ahead }: Gap,
      { at }: FeedPoint,
      position: FeedPosition | undefined,
      signal: AbortSignal,
    ): Promise<TailRow[]> {
      const delivered = new Set(position?.known.map(([id]) => id));
      const known = new Set([...delivered, ...filled, ...ahead.map(({ id }) => id)]);
      // Up to the newest of the posts that follow: the first may have appeared late. If one is rejected, begin at the next.
      const tops = ahead.toReversed().sort((one, other) => (other.at ?? 0) - (one.at ?? 0));
      const since = at ?? undefined;
      const ranges: Range[] = [
        ...tops.map(({ id }) => ({ before: id, since })),
        { before: undefined, since, until: (tops[0]?.at ?? Number.POSITIVE_INFINITY) + 1 },
      ];
      for (const [index, range] of ranges.entries()) {
        const rows: TailRow[] = [];
        try {
          for await (const row of read(range, signal)) {
            // The first run of a gap ends below its post time; later ones, or one without a time, at a delivered post.
            if (delivered.has(row.id) && (at === null || row.at === at)) break;
            rows.push(row);
          }
        } catch (error) {
          const isRejected = error instanceof Failure && error.status === 400;
          if (isRejected && rows.length === 0 && index + 1 < ranges.length) continue;
          throw error;
        }
        const missing = rows.filter(({ id }) => !known.has(id)).reverse();
        for (const { id } of missing) filled.add(id);
        return missing;
      }
      return [];
    },
  };
}

/** Adds delivered posts. Their ids expire with their post times, but not before the newest id of the position. */
export function withPosts(position: FeedPosition, posts: readonly FeedPoint[]): FeedPosition {
  const ms = position.known.reduce(
    (most, [, each]) => Math.max(most, each),
    entryMs(position.entry),
  );
  const added = posts.map(({ id, at }) => [id, Math.max(ms, at ?? ms)] as const);
  return { ...position, known: [...position.known, ...added] };
}

/** The position after the first posts of a gap. A later run finds the same gap, and fetches only the other posts. */
export function afterFilled(position: FeedPosition, delivered: readonly TailRow[]): FeedPosition {
  const end = delivered.at(-1);
  if (end === undefined) return position;
  return {
    ...withPosts(position, delivered),
    last: { id: end.id, at: end.at },
    verified: end.at ?? position.verified,
  };
}
