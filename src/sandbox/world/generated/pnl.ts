import type { Pnl } from '../../../contract/records/pnl.ts';
import { MINUTE } from '../hash.ts';
import type { Users } from '../users.ts';
import { countNumbers, type Numbers, type TradeLog } from './numbers.ts';
import type { Traders } from './traders.ts';

/** The trading numbers of a world. */
export interface PnlBook {
  of(handle: string, now: number): Pnl | undefined;
  /** Says that a trade of this time was added. */
  traded(time: number): void;
}

/**
 * Refreshes everybody's numbers at each full minute, when somebody asks: a record's `updatedAt` is the
 * instant at which its windows end.
 */
export function createPnl(traders: Traders, users: Users, trades: TradeLog): PnlBook {
  let numbers: Numbers | undefined;
  let reveals = 0;
  const roster = { count: traders.count, owner: traders.owner, held: users.held };

  function refreshed(now: number): Numbers {
    const at = Math.floor(now / MINUTE) * MINUTE;
    if (numbers?.at === at && reveals === users.reveals) return numbers;
    reveals = users.reveals;
    numbers = countNumbers(trades, at, roster);
    return numbers;
  }

  return {
    of(handle, now) {
      const index = users.indexOfHandle(handle);
      if (index === undefined) return undefined;
      const { at, of } = refreshed(now);
      const profile = traders.profile(index);
      const held = users.held(index);
      return {
        handle: users.handle(index),
        displayName: profile.name,
        avatarUrl: profile.profilePicture,
        twitter: profile.x,
        followers: profile.followers,
        wallet: held ? traders.solana(index) : null,
        evmWallet: held ? traders.evm(index) : null,
        updatedAt: held ? at : null,
        windows: of(index),
      };
    },
    traded(time) {
      if (numbers && time <= numbers.at) numbers = undefined;
    },
  };
}
