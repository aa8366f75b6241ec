import { unusable } from '../../store/failures.ts';
import { feedIdOf } from '../../store/keys.ts';
import type { Context } from '../run/context.ts';
import type { RunStore } from '../run/open-store.ts';

const RETRY_MS = 1_000;

/**
 * A feed that a relay leads now; with --via store, otherwise one with posts, otherwise that of all
 * tokens.
 */
export async function chooseFeed(context: Context, via: string, tokens: readonly string[]) {
  const { io, signal } = context.terminal;
  const isAuto = via === 'auto';
  const { service } = context;
  const store = isAuto ? await service.store() : await service.needStore();
  if (store === undefined) return undefined;
  const ids = [feedIdOf({ tokens }), feedIdOf({ tokens: [] })] as const;
  for (let isReported = false; ; isReported = true) {
    try {
      const led = await first(store, ids, 'lease');
      const feedId = led ?? (isAuto ? undefined : ((await first(store, ids, 'stream')) ?? ids[1]));
      return feedId && { store, feedId };
    } catch (error) {
      if (!unusable(error)) throw error;
      if (isAuto) {
        context.terminal.notice(`${error.message}; reading from the service instead`);
        return undefined;
      }
      if (!isReported) context.terminal.notice(`${error.message}; waiting for the store`);
    }
    await io.clock.sleep(RETRY_MS, signal);
  }
}

async function first({ keys, link }: RunStore, ids: readonly string[], key: 'lease' | 'stream') {
  for (const id of ids)
    if ((await link.use((connection) => connection.send('EXISTS', [keys.feed(id)[key]]))) === 1)
      return id;
  return undefined;
}
