import { createBoards } from './generated/boards.ts';
import { createCallouts } from './generated/callouts.ts';
import { createAccounts } from './generated/launchpad-accounts.ts';
import { createPnl } from './generated/pnl.ts';
import { createTheses } from './generated/theses.ts';
import { createTokens } from './generated/tokens.ts';
import { createTraders } from './generated/traders.ts';
import { createTrades, SPAN, TRADES_PER_THESIS } from './generated/trades.ts';
import { seedOf } from './hash.ts';
import type { World, WorldOptions } from './types.ts';
import { createUsers } from './users.ts';

export { loadWorld, readRecording } from './loaded/index.ts';

const DEFAULT_TRADERS = 500;
const DEFAULT_THESES = 20_000;
const TOKENS = 180;
/** Theses from which on making the history would be felt in the first answer. */
const AHEAD = 100_000;

/**
 * Makes a world from a seed: the same options give the same one, to the byte. Traders are there at once.
 * The history of trades and the launchpad are made when first asked for, since many runs never do; a large
 * history is made ahead.
 */
export function createWorld(options: WorldOptions): World {
  const seed = seedOf(options.seed);
  const now = Math.floor(options.now);
  const count = Math.max(0, Math.floor(options.theses ?? DEFAULT_THESES));
  const traders = createTraders(seed, Math.floor(options.traders ?? DEFAULT_TRADERS));
  const tokens = createTokens(seed, TOKENS, now - SPAN);
  const users = createUsers(traders, options.socials ?? false);

  const history = once(() => {
    const trades = createTrades(seed, traders, tokens, count * TRADES_PER_THESIS, now);
    const pnl = createPnl(traders, users, trades);
    const theses = createTheses({ seed, count, traders, users, tokens, trades, traded: pnl.traded });
    return { pnl, theses };
  });
  const launchpad = once((): World['launchpad'] => {
    const accounts = createAccounts(seed, traders);
    const callouts = Math.min(20_000, Math.max(500, Math.floor(count / 10)));
    return {
      user(wallet) {
        const index = accounts.indexOf(wallet);
        return index === undefined ? undefined : accounts.record(index);
      },
      ...createCallouts(seed, callouts, now, accounts, tokens),
      board: createBoards(seed, now, accounts),
    };
  });

  if (count > AHEAD) history();
  return {
    users: users.api,
    pnl: (handle, at) => history().pnl.of(handle, at),
    // Each call asks anew, so whoever takes these parts apart early makes nothing early.
    theses: {
      slice: (filter, before, limit, at) => history().theses.slice(filter, before, limit, at),
      post: (at) => history().theses.post(at),
      add: (post) => history().theses.add(post),
      remove: (id) => history().theses.remove(id),
      withhold: (id, untilMs) => history().theses.withhold(id, untilMs),
      get count() {
        return history().theses.count;
      },
    },
    launchpad: {
      user: (wallet) => launchpad().user(wallet),
      callouts: (filter, before, at) => launchpad().callouts(filter, before, at),
      call: (at) => launchpad().call(at),
      board: (period, at) => launchpad().board(period, at),
    },
  };
}

/** Makes a thing when it is first asked for, and keeps it. */
function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
