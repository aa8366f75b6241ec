import type { Clock } from '../../base/clock.ts';
import type { StoreConnection } from '../../store/connection.ts';
import { hashReply, serverNow } from '../../store/connection.ts';
import { timeFrom } from '../../store/feed/entry.ts';
import type { FeedKeys } from '../../store/keys.ts';

/** The minimum time between two reads of the verified time from the store. */
const ASK_MS = 15_000;
/** The same, until a read has returned a verified time. */
const FIRST_ASK_MS = 2_000;

interface LeaderLink {
  use<T>(work: (store: StoreConnection) => Promise<T>): Promise<T>;
}

/** How long ago the leading relay has verified the feed; null until this was read from the store, in the background. */
export function leaderProof(
  link: LeaderLink,
  feed: FeedKeys,
  clock: Pick<Clock, 'now' | 'mono'>,
): () => number | null {
  let at: number | null = null;
  let askedAt = Number.NEGATIVE_INFINITY;

  const ask = async () => {
    at = await link.use(async (connection) => {
      const info = await hashReply(connection, feed.info);
      const leads = Number(await connection.send('PTTL', [feed.lease])) > 0;
      const verified = timeFrom(info.get('verifiedAgo'));
      const renewed = timeFrom(info.get('renewed'));
      if (!leads || verified === null || renewed === null) return at;
      return clock.now() - (verified + (await serverNow(connection)) - renewed);
    });
  };

  return () => {
    if (clock.mono() - askedAt >= (at === null ? FIRST_ASK_MS : ASK_MS)) {
      askedAt = clock.mono();
      ask().catch(() => {});
    }
    return at === null ? null : Math.max(0, clock.now() - at);
  };
}
