import { unusable } from '../../store/failures.ts';
import { feedIdOf } from '../../store/feed/feed-id.ts';
import type { Context } from '../context.ts';
import type { RunStore } from './open-store.ts';

/** A feed in the store that has what is asked for. */
export interface StoredFeed {
  readonly store: RunStore;
  readonly feedId: string;
}

/** Feeds that hold what is asked for, the narrowest first; filters do the rest. */
const candidates = (tokens: readonly string[]): string[] => [
  ...new Set([feedIdOf({ tokens }), feedIdOf({ tokens: [] })]),
];

/** The feed to read where the user asked for the store: one that is led, else one that was, else the narrowest. */
export async function chooseFeed(store: RunStore, tokens: readonly string[]): Promise<StoredFeed> {
  const ids = candidates(tokens);
  const state = async (id: string) => {
    const { lease, stream } = store.keys.feed(id);
    return store.link.use(async (connection) => ({
      led: (await connection.send('EXISTS', [lease])) === 1,
      held: (await connection.send('EXISTS', [stream])) === 1,
    }));
  };
  const found: { id: string; led: boolean; held: boolean }[] = [];
  for (const id of ids) found.push({ id, ...(await state(id)) });
  const best = found.find(({ led }) => led) ?? found.find(({ held }) => held) ?? found.at(-1);
  return { store, feedId: best?.id ?? feedIdOf({ tokens: [] }) };
}

/** The feed to read where the user left the choice: only one that a relay leads at this moment. */
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
    context.notice(`${error.message}; reading from the service`);
  }
  return undefined;
}
