import { type PnlWindow, type WindowName, windowNames } from '../../../contract/records/pnl.ts';
import { DAY } from '../hash.ts';

/**
 * The length of each window.
 * @internal Exported for tests.
 */
export const windowSpans: Readonly<Record<WindowName, number>> = {
  '24h': DAY,
  '7d': 7 * DAY,
  '30d': 30 * DAY,
  all: Number.POSITIVE_INFINITY,
};

/** Trades by index, oldest first. `cents` is positive for a buy and negative for a sell. */
export interface TradeLog {
  readonly count: number;
  time(index: number): number;
  trader(index: number): number;
  cents(index: number): number;
}

type Windows = Readonly<Record<WindowName, PnlWindow | null>>;

/** The numbers of all traders at one time. */
export interface Numbers {
  readonly at: number;
  of(trader: number): Windows;
}

const noTrades: Windows = { '24h': null, '7d': null, '30d': null, all: null };

interface WindowTotals {
  /** Cents, so that sums are exact. */
  readonly bought: Float64Array;
  readonly sold: Float64Array;
  readonly trades: Uint32Array;
  rank: Uint32Array;
}

/**
 * Sums the trades of each window, from `at` minus its length (exclusive) to `at` (inclusive). Twins have the
 * trades of their `owner`. Traders without `verified` wallets have neither numbers nor a rank. A window is
 * null if the trader never traded, and its `trades` is 0 if the trader did not trade in the window.
 */
export function countNumbers(
  log: TradeLog,
  at: number,
  traders: { readonly count: number; owner(index: number): number; verified(index: number): boolean },
): Numbers {
  const totals = {} as Record<WindowName, WindowTotals>;
  let index = log.count - 1;
  while (index >= 0 && log.time(index) > at) index--;
  let shorter: WindowTotals | undefined;
  for (const name of windowNames) {
    // Each window contains all shorter ones, so one pass over the trades is enough.
    const total: WindowTotals = {
      bought: shorter?.bought.slice() ?? new Float64Array(traders.count),
      sold: shorter?.sold.slice() ?? new Float64Array(traders.count),
      trades: shorter?.trades.slice() ?? new Uint32Array(traders.count),
      rank: new Uint32Array(0),
    };
    const start = at - windowSpans[name];
    for (; index >= 0 && log.time(index) > start; index--) {
      const trader = log.trader(index);
      const cents = log.cents(index);
      if (cents > 0) total.bought[trader] = (total.bought[trader] ?? 0) + cents;
      else total.sold[trader] = (total.sold[trader] ?? 0) - cents;
      total.trades[trader] = (total.trades[trader] ?? 0) + 1;
    }
    totals[name] = total;
    shorter = total;
  }
  const { all } = totals;
  const ranked: number[] = [];
  for (let trader = 0; trader < traders.count; trader++) {
    if (traders.verified(trader) && all.trades[traders.owner(trader)]) ranked.push(trader);
  }
  for (const name of windowNames) {
    const { bought, sold } = totals[name];
    const nets = Float64Array.from(ranked, (trader) => {
      const owner = traders.owner(trader);
      return (sold[owner] ?? 0) - (bought[owner] ?? 0);
    });
    totals[name].rank = ranksOf(nets, ranked, traders.count);
  }

  function windowOf(name: WindowName, trader: number): PnlWindow {
    const total = totals[name];
    const owner = traders.owner(trader);
    const bought = total.bought[owner] ?? 0;
    const sold = total.sold[owner] ?? 0;
    return {
      netUsd: (sold - bought) / 100,
      returnPct: bought === 0 ? null : ((sold - bought) / bought) * 100,
      volumeUsd: (bought + sold) / 100,
      trades: total.trades[owner] ?? 0,
      rank: total.rank[trader] ?? 0,
    };
  }

  return {
    at,
    of(trader) {
      if (!totals.all.rank[trader]) return noTrades;
      return {
        '24h': windowOf('24h', trader),
        '7d': windowOf('7d', trader),
        '30d': windowOf('30d', trader),
        all: windowOf('all', trader),
      };
    },
  };
}

/** Standard competition ranking (1, 2, 2, 4), highest first. */
function ranksOf(nets: Float64Array, traders: readonly number[], size: number): Uint32Array {
  const order = Uint32Array.from(nets, (_, place) => place).sort((a, b) => (nets[b] ?? 0) - (nets[a] ?? 0));
  const ranks = new Uint32Array(size);
  let rank = 0;
  order.forEach((place, position) => {
    const above = position === 0 ? undefined : nets[order[position - 1] ?? 0];
    if (above !== nets[place]) rank = position + 1;
    ranks[traders[place] ?? 0] = rank;
  });
  return ranks;
}
