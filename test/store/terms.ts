import { systemClock } from '../../src/base/clock.ts';
import type { StoreConnection } from '../../src/store/connection.ts';
import { openTerm, type Post, type RelayTerm } from '../../src/store/feed/leader-term.ts';
import { keysOf } from '../../src/store/keys.ts';
import { scope } from './machines.ts';

export const feed = keysOf(scope).feed('thesis');

type TermOptions = Parameters<typeof openTerm>[1];

export const askForTerm = (store: StoreConnection, options: Partial<TermOptions> = {}) =>
  openTerm(store, {
    ...{ feed, clock: systemClock, keepMs: 3_600_000, keepRows: 100_000 },
    describe: () => ({ machine: 'a' }),
    ...options,
  });

export async function lead(
  store: StoreConnection,
  options?: Partial<TermOptions>,
): Promise<RelayTerm> {
  const term = await askForTerm(store, options);
  if (term.leftMs !== undefined) throw new Error('another one leads');
  return term;
}

export const post = (id: string, at: number | null = Date.now()): Post => ({
  id,
  at,
  body: JSON.stringify({ id, at }),
});

export const posts = (...ids: readonly string[]): Post[] => ids.map((id) => post(id));
