import { MINUTE } from '../hash.ts';
import type { NumbersSource } from '../source.ts';
import type { UserStore } from '../user-store.ts';
import type { Traders } from './traders.ts';
import { countNumbers, type Numbers, type TradeLog } from './window-numbers.ts';

/**
 * Trading numbers as of the last full minute (`updatedAt`). They are cached until the next minute, or until a live
 * resolve or a new trade changes them.
 */
export function createNumbers(traders: Traders, users: UserStore, trades: TradeLog) {
  let numbers: Numbers | undefined;
  let reveals = 0;
  const roster = { count: traders.count, owner: traders.owner, verified: users.verified };

  function refreshed(now: number): Numbers {
    const at = Math.floor(now / MINUTE) * MINUTE;
    if (numbers?.at === at && reveals === users.reveals) return numbers;
    reveals = users.reveals;
    numbers = countNumbers(trades, at, roster);
    return numbers;
  }

  const source: NumbersSource = {
    of(index, now) {
      const { at, of } = refreshed(now);
      const profile = traders.profile(index);
      const verified = users.verified(index);
      return {
        handle: users.handle(index),
        displayName: profile.name,
        avatarUrl: profile.profilePicture,
        twitter: profile.x,
        followers: profile.followers,
        wallet: verified ? traders.solana(index) : null,
        evmWallet: verified ? traders.evm(index) : null,
        updatedAt: verified ? at : null,
        windows: of(index),
      };
    },
  };

  return {
    numbers: source,
    /**
     * Must be called for each new trade. If the trade is not later than the minute of the cached numbers, they
     * are computed again.
     */
    tradeAdded(time: number): void {
      if (numbers && time <= numbers.at) numbers = undefined;
    },
  };
}
