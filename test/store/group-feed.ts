import { systemClock } from '../../src/base/clock.ts';
import { openTerm, type RelayTerm } from '../../src/store/feed/term.ts';
import { keysOf } from '../../src/store/keys.ts';
import type { StoreServer } from './server.ts';

/** The feed that the members of a group read. */
export const feed = keysOf({ baseUrl: 'https://api.example.test', key: 'k' }).feed('thesis');

/** Becomes the leader of the feed, over a new connection. */
export async function leader(server: StoreServer): Promise<RelayTerm> {
  const term = await openTerm({
    ...{ store: await server.connect(), feed, clock: systemClock, keepMs: 3_600_000, keepRows: 100_000 },
    describe: () => ({}),
  });
  if ('leftMs' in term) throw new Error('another one leads');
  return term;
}

/** Posts with these ids. */
export const posts = (...ids: readonly string[]) =>
  ids.map((id) => ({ id, at: Date.now(), body: JSON.stringify({ id }) }));
