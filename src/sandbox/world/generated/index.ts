import { randomOf } from '../../random.ts';
import type { WorldRecords } from '../world.ts';
import { makeAccounts, makeBoards, makeCallouts } from './launchpad.ts';
import { makeNumbers } from './numbers.ts';
import { makeTheses } from './theses.ts';
import { makeTraders } from './traders.ts';

/** How many records to generate. */
export interface WorldSize {
  /** The number of traders: 300 by default, and at least the fixed ones. */
  readonly traders?: number | undefined;
  /** The number of theses: 2,000 by default. */
  readonly theses?: number | undefined;
}

/** Generates the records of a world whose history ends at `now`. The same arguments give the same records. */
export function generateRecords(seed: number, now: number, size: WorldSize = {}): WorldRecords {
  const { traders: wanted = 300, theses: count = 2_000 } = size;
  const traders = makeTraders(seed, wanted);
  const users = traders.map(({ user }) => user);
  const accounts = () => makeAccounts(randomOf(seed, 'accounts'), traders);
  return {
    users,
    unverified: new Map(
      traders.flatMap(({ user, persona: { solana, evm, plan } }) =>
        plan ? [[user.id, { solanaAddress: solana, evmAddress: evm, plan }]] : [],
      ),
    ),
    samples: new Set(traders.flatMap(({ user, persona }) => (persona.sample ? user.id : []))),
    numbers: () => makeNumbers(randomOf(seed, 'windows'), traders, now),
    theses: () => makeTheses(randomOf(seed, 'theses'), traders, count, now),
    accounts,
    callouts: () => makeCallouts(randomOf(seed, 'callouts'), accounts(), Math.max(500, count / 10), now),
    boards: () => makeBoards(randomOf(seed, 'boards'), accounts(), now),
  };
}
