import { type Pnl, type PnlWindow, type WindowName, windowNames } from '../../../contract/records/pnl.ts';
import { below, type Random, round2 } from '../../random.ts';
import type { Trader } from './traders.ts';

/** How many days each window adds to the one before it. */
const days: Readonly<Record<WindowName, number>> = { '24h': 1, '7d': 6, '30d': 23, all: 90 };

type Windows = Pnl['windows'];

/**
 * Makes the numbers of all traders. Each window contains the trades of the shorter ones. Traders without verified
 * wallets or trades have no numbers; traders with the same wallets have the same ones.
 */
export function makeNumbers(random: Random, traders: readonly Trader[], now: number): Pnl[] {
  const windowsOfWallets = new Map<string, Windows>();
  const windowsOf = ({ persona, user }: Trader, place: number): Windows => {
    const wallets = `${user.solanaAddress} ${user.evmAddress}`;
    const isIdle = persona.idle || persona.plan !== undefined;
    const windows = windowsOfWallets.get(wallets) ?? (isIdle ? noTrades() : makeWindows(random, place));
    if (!isIdle) windowsOfWallets.set(wallets, windows);
    return windows;
  };
  const numbers = traders.map((trader, place): Pnl => {
    const { user, x, followers } = trader;
    const { handle, name, profilePicture, solanaAddress, evmAddress } = user;
    return {
      handle,
      displayName: name,
      avatarUrl: profilePicture,
      twitter: x,
      followers,
      wallet: solanaAddress,
      evmWallet: evmAddress,
      updatedAt: trader.persona.plan ? null : Math.floor(now / 60_000) * 60_000,
      windows: windowsOf(trader, place),
    };
  });
  for (const name of windowNames) rank(numbers.flatMap(({ windows }) => windows[name] ?? []));
  return numbers;
}

const noTrades = (): Windows => ({ '24h': null, '7d': null, '30d': null, all: null });

function makeWindows(random: Random, place: number): Windows {
  const windows = noTrades();
  const buysPerDay = 0.2 + 40 / (1 + place);
  // In cents, so that sums are exact. Most traders trade with a few dollars, some with thousands.
  const size = 2_000 + 150_000 * random() ** 3;
  let [bought, sold, trades] = [0, 0, 0];
  for (const name of windowNames) {
    const buys = Math.floor(days[name] * buysPerDay * (0.4 + random())) + (name === 'all' ? 1 : 0);
    const sells = buys === 0 ? below(random, 1.2) : Math.round(buys * (0.7 + 0.6 * random()));
    bought += Math.round(buys * size * (0.7 + 0.6 * random()));
    sold += Math.round(sells * size * (0.7 + 0.6 * random()));
    trades += buys + sells;
    windows[name] = {
      netUsd: (sold - bought) / 100,
      returnPct: bought === 0 ? null : round2(((sold - bought) / bought) * 100),
      volumeUsd: (bought + sold) / 100,
      trades,
      rank: 0,
    };
  }
  return windows;
}

/** Standard competition ranking (1, 2, 2, 4), highest first. */
function rank(windows: readonly PnlWindow[]): void {
  const sorted = windows.toSorted((one, other) => other.netUsd - one.netUsd);
  sorted.forEach((window, place) => {
    const above = sorted[place - 1];
    window.rank = above?.netUsd === window.netUsd ? above.rank : place + 1;
  });
}
