import { systemClock } from '../../src/base/clock.ts';
import { openTerm, type RelayMemory, type RelayTerm } from '../../src/store/feed/leader-term.ts';
import { keysOf } from '../../src/store/keys.ts';
import type { StoreServer } from './server.ts';

/** The feed that the members of a group read. */
export const feed = keysOf({ baseUrl: 'https://api.example.test', key: 'k' }).feed('thesis');

/** Becomes the leader of the feed, over a new connection. */
export async function leader(server: StoreServer, memory?: RelayMemory): Promise<RelayTerm> {
  const term = await openTerm({
    ...{ store: await server.connect(), feed, clock: systemClock, keepMs: 3_600_000, keepRows: 100_000 },
    describe: () => ({}),
    memory,
    renewMs: 50,
  });
  if ('leftMs' in term) throw new Error('another one leads');
  return term;
}

/** Posts with these ids. */
export const posts = (...ids: readonly string[]) =>
  ids.map((id) => ({ id, at: Date.now(), body: JSON.stringify({ id }) }));

/** A machine that remembers nothing about its groups. */
export const noMemory = { read: () => undefined, save() {} };
