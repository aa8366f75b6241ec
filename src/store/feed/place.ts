import type { StoreConnection } from '../connection.ts';
import type { FeedKeys } from '../keys.ts';
import { listReply } from '../replies.ts';
import { findPlace } from '../scripts/feed.ts';

/** What the store has at the position of a follower. */
export interface Place {
  /** Identifies the stream; empty if no relay has begun it. */
  readonly born: string;
  /** The id of the post after which the stream continues a former one; empty if it is not known. */
  readonly after: string;
  /** The id of the post of the entry; empty if the entry does not exist. */
  readonly id: string;
}

export async function readPlace(store: StoreConnection, feed: FeedKeys, entry: string): Promise<Place> {
  const reply = await store.run(findPlace, [feed.stream, feed.info], [entry]);
  const [born = '', after = '', id = ''] = listReply(reply).map(String);
  return { born, after, id };
}
