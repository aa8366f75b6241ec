import { CALLOUT_PAGE } from '../../../contract/limits.ts';
import type { Board, Callout, LaunchpadUser } from '../../../contract/records/launchpad.ts';
import { hexOf, normalAddress, numbered } from '../address.ts';
import { emptyBoard } from '../generated/boards.ts';
import { createFeed, emptyBase } from '../timeline.ts';
import type { World } from '../types.ts';

const salt = { id: 141 };

/** The launchpad as read from files; what is called out live repeats the file, oldest first. */
export function loadedLaunchpad(
  seed: number,
  users: readonly LaunchpadUser[],
  callouts: readonly Callout[],
  boards: readonly Board[],
): World['launchpad'] {
  const ids = numbered(seed, salt.id);
  const byWallet = new Map<string, LaunchpadUser>();
  for (const user of users) byWallet.set(normalAddress(user.wallet), user);
  const feed = createFeed<Callout>(emptyBase);
  const oldestFirst = callouts.toSorted((a, b) => (a.createdAt ?? 0) - (b.createdAt ?? 0));
  const byCapture = boards.toSorted((a, b) => (b.capturedAt ?? 0) - (a.capturedAt ?? 0));
  let calls = 0;

  const coinKey = (mint: string) => `coin ${normalAddress(mint)}`;
  const walletKey = (wallet: string) => `wallet ${normalAddress(wallet)}`;
  const add = (callout: Callout) =>
    feed.add({
      id: callout.id,
      time: callout.createdAt ?? 0,
      keys: [coinKey(callout.coinMint), walletKey(callout.wallet)],
      make: () => callout,
    });

  for (const callout of oldestFirst) add(callout);
  return {
    user: (wallet) => byWallet.get(normalAddress(wallet)),
    callouts({ coin, wallet }, before, now) {
      const key = coin !== undefined ? coinKey(coin) : wallet !== undefined ? walletKey(wallet) : undefined;
      const narrow = key === undefined ? undefined : { picked: undefined, key };
      return feed.slice(narrow, before, CALLOUT_PAGE, now);
    },
    call(now) {
      const words = oldestFirst[calls % Math.max(1, oldestFirst.length)] ?? unknownCoin;
      const callout: Callout = {
        ...words,
        id: hexOf(ids.bytes(calls, 12)),
        createdAt: Math.floor(now),
        multiple: words.multiple === null ? null : 1,
        maxMultiplier: words.maxMultiplier === null ? null : 1,
      };
      calls++;
      add(callout);
      return callout;
    },
    board: (period, at) =>
      byCapture.find((board) => board.period === period && (board.capturedAt ?? 0) <= at) ??
      emptyBoard(period),
  };
}

const unknownCoin: Callout = {
  id: '',
  createdAt: null,
  wallet: '11111111111111111111111111111111',
  userName: null,
  xUsername: null,
  isVerified: null,
  coinMint: '11111111111111111111111111111111',
  chain: null,
  coinSymbol: null,
  coinName: null,
  thesis: null,
  mediaUrl: null,
  calledOutAtMcap: null,
  multiple: null,
  maxMultiplier: null,
};
