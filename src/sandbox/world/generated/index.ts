import { seedOf } from '../hash.ts';
import type { LaunchpadSource, WorldSource } from '../source.ts';
import type { WorldOptions } from '../types.ts';
import { createBoards } from './boards.ts';
import { generatedCallouts } from './callouts.ts';
import { createAccounts } from './launchpad-accounts.ts';
import { createNumbers } from './numbers.ts';
import { generatedTheses } from './theses.ts';
import { createTokens } from './tokens.ts';
import { createTraders } from './traders.ts';
import { createTrades, HISTORY_MS, TRADES_PER_THESIS } from './trades.ts';

const DEFAULT_TRADERS = 500;
const DEFAULT_THESES = 20_000;
const TOKENS = 180;

/** Generates every record from a seed, on demand. */
export function generatedSource(options: WorldOptions): WorldSource {
  const seed = seedOf(options.seed);
  const now = Math.floor(options.now);
  const count = Math.max(0, Math.floor(options.theses ?? DEFAULT_THESES));
  const traders = createTraders(seed, Math.floor(options.traders ?? DEFAULT_TRADERS));
  const tokens = createTokens(seed, TOKENS, now - HISTORY_MS);

  return {
    users: traders.users,
    history(users) {
      const trades = createTrades(seed, traders, tokens, count * TRADES_PER_THESIS, now);
      const { numbers, tradeAdded } = createNumbers(traders, users, trades);
      return {
        numbers,
        theses: generatedTheses({ seed, count, traders, users, tokens, trades, tradeAdded }),
      };
    },
    launchpad(): LaunchpadSource {
      const accounts = createAccounts(seed, traders);
      const callouts = Math.min(20_000, Math.max(500, Math.floor(count / 10)));
      return {
        user(wallet) {
          const index = accounts.indexOf(wallet);
          return index === undefined ? undefined : accounts.record(index);
        },
        callouts: generatedCallouts(seed, callouts, now, accounts, tokens),
        board: createBoards(seed, now, accounts),
      };
    },
  };
}
