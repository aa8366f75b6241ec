import { unusable } from '../../store/failures.ts';
import { feedIdOf } from '../../store/feed/feed-id.ts';
import type { Context } from '../context.ts';
import type { RunStore } from './open-store.ts';

/** A feed in the store that contains the requested posts. */
interface StoredFeed {
  readonly store: RunStore;
  readonly feedId: string;
}

/**
 * The feeds that contain the requested posts, smallest feed first. Filters then select the requested posts.
 */
const candidates = (tokens: readonly string[]): string[] => [
  ...new Set([feedIdOf({ tokens }), feedIdOf({ tokens: [] })]),
];

const RETRY_MS = 1_000;

/**
 * Chooses the feed to read with --via store: a feed that has a leader, otherwise a feed that has posts, otherwise
 * the feed of all tokens. Waits while the store is unavailable.
 */
export async function chooseFeed(
  { io, signal, notice }: Context,
  store: RunStore,
  tokens: readonly string[],
): Promise<StoredFeed> {
  for (let isReported = false; ; isReported = true) {
    try {
      return { store, feedId: await bestOf(store, candidates(tokens)) };
    } catch (error) {
      if (!unusable(error)) throw error;
      if (!isReported) notice(`${error.message}; waiting for the store`);
    }
    await io.clock.sleep(RETRY_MS, signal);
  }
}

async function bestOf({ keys, link }: RunStore, ids: readonly string[]): Promise<string> {
  const found: { id: string; led: boolean; held: boolean }[] = [];
  for (const id of ids) {
    const { lease, stream } = keys.feed(id);
    const exists = async (key: string) =>
      (await link.use((connection) => connection.send('EXISTS', [key]))) === 1;
    found.push({ id, led: await exists(lease), held: await exists(stream) });
  }
  const best = found.find(({ led }) => led) ?? found.find(({ held }) => held) ?? found.at(-1);
  return best?.id ?? feedIdOf({ tokens: [] });
}

/**
 * Chooses the feed to read with --via auto: a feed that a relay leads now. Undefined if there is none, or if the
 * store is unavailable: the tail then reads from the service.
 */
export async function liveFeed(context: Context, tokens: readonly string[]): Promise<StoredFeed | undefined> {
  const store = await context.store();
  if (store === undefined) return undefined;
  try {
    for (const id of candidates(tokens)) {
      const led = await store.link.use((connection) =>
        connection.send('EXISTS', [store.keys.feed(id).lease]),
      );
      if (led === 1) return { store, feedId: id };
    }
  } catch (error) {
    if (!unusable(error)) throw error;
    context.notice(`${error.message}; reading from the service instead`);
  }
  return undefined;
}
