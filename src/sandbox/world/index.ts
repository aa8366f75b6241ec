import { createAccounts } from './accounts.ts';
import { createBoards } from './board.ts';
import { createCallouts } from './callouts.ts';
import { createPnl } from './pnl.ts';
import { seedOf } from './rng.ts';
import { createTheses } from './theses.ts';
import { createTokens } from './tokens.ts';
import { createTraders } from './traders.ts';
import { createTrades, SPAN, TRADES_PER_THESIS } from './trades.ts';
import type { World, WorldOptions } from './types.ts';
import { createUsers } from './users.ts';

export { loadWorld, readRecording } from './load.ts';

const DEFAULT_TRADERS = 500;
const DEFAULT_THESES = 20_000;
const TOKENS = 180;

/** Makes a world from a seed: the same options give the same one, to the byte. */
export function createWorld(options: WorldOptions): World {
  const seed = seedOf(options.seed);
  const now = Math.floor(options.now);
  const theses = Math.max(0, Math.floor(options.theses ?? DEFAULT_THESES));
  const traders = createTraders(seed, Math.floor(options.traders ?? DEFAULT_TRADERS));
  const tokens = createTokens(seed, TOKENS, now - SPAN);
  const trades = createTrades(seed, traders, tokens, theses * TRADES_PER_THESIS, now);
  const users = createUsers(traders, options.socials ?? false);
  const pnl = createPnl(traders, users, trades);
  return {
    users: users.api,
    pnl: pnl.of,
    theses: createTheses({ seed, count: theses, traders, users, tokens, trades, traded: pnl.traded }),
    launchpad: launchpad(),
  };

  /** Made at the first call: most runs never ask for it, and all of it can wait. */
  function launchpad(): World['launchpad'] {
    const make = () => {
      const accounts = createAccounts(seed, traders);
      const count = Math.min(20_000, Math.max(500, Math.floor(theses / 10)));
      return {
        user(wallet: string) {
          const index = accounts.indexOf(wallet);
          return index === undefined ? undefined : accounts.record(index);
        },
        ...createCallouts(seed, count, now, accounts, tokens),
        board: createBoards(seed, now, accounts),
      };
    };
    let made: World['launchpad'] | undefined;
    const get = () => (made ??= make());
    return {
      user: (wallet) => get().user(wallet),
      callouts: (filter, before, at) => get().callouts(filter, before, at),
      call: (at) => get().call(at),
      board: (period, at) => get().board(period, at),
    };
  }
}
