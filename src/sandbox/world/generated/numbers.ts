import { type PnlWindow, type WindowName, windowNames } from '../../../contract/records/pnl.ts';
import { DAY } from '../hash.ts';

/** How far each window reaches back. */
export const windowSpans: Readonly<Record<WindowName, number>> = {
  '24h': DAY,
  '7d': 7 * DAY,
  '30d': 30 * DAY,
  all: Number.POSITIVE_INFINITY,
};

/** Trades by index, oldest first; `cents` above 0 paid on a buy, below 0 received on a sell. */
export interface TradeLog {
  readonly count: number;
  time(index: number): number;
  trader(index: number): number;
  cents(index: number): number;
}

type Windows = Readonly<Record<WindowName, PnlWindow | null>>;

/** Every trader's numbers at one instant. */
export interface Numbers {
  readonly at: number;
  of(trader: number): Windows;
}

const none: Windows = { '24h': null, '7d': null, '30d': null, all: null };

interface Tally {
  /** Cents, which add up exactly. */
  readonly bought: Float64Array;
  readonly sold: Float64Array;
  readonly trades: Uint32Array;
  rank: Uint32Array;
}

/**
 * Counts the trades of each window that ends at `at` and begins right after `at` minus its span. Traders
 * share the trades of their `owner`. Those whose wallets are not `held` have no numbers and no rank; a
 * window without a trade in it is one of zeros, null only where no trade is held at all.
 */
export function countNumbers(
  log: TradeLog,
  at: number,
  traders: { readonly count: number; owner(index: number): number; held(index: number): boolean },
): Numbers {
  const tallies = {} as Record<WindowName, Tally>;
  let index = log.count - 1;
  while (index >= 0 && log.time(index) > at) index--;
  let wider: Tally | undefined;
  for (const name of windowNames) {
    // Each window holds the one before it: newest first, the trades are read once in all.
    const tally: Tally = {
      bought: wider?.bought.slice() ?? new Float64Array(traders.count),
      sold: wider?.sold.slice() ?? new Float64Array(traders.count),
      trades: wider?.trades.slice() ?? new Uint32Array(traders.count),
      rank: new Uint32Array(0),
    };
    const start = at - windowSpans[name];
    for (; index >= 0 && log.time(index) > start; index--) {
      const trader = log.trader(index);
      const cents = log.cents(index);
      if (cents > 0) tally.bought[trader] = (tally.bought[trader] ?? 0) + cents;
      else tally.sold[trader] = (tally.sold[trader] ?? 0) - cents;
      tally.trades[trader] = (tally.trades[trader] ?? 0) + 1;
    }
    tallies[name] = tally;
    wider = tally;
  }
  const { all } = tallies;
  const ranked: number[] = [];
  for (let trader = 0; trader < traders.count; trader++) {
    if (traders.held(trader) && all.trades[traders.owner(trader)]) ranked.push(trader);
  }
  for (const name of windowNames) {
    const { bought, sold } = tallies[name];
    const nets = Float64Array.from(ranked, (trader) => {
      const owner = traders.owner(trader);
      return (sold[owner] ?? 0) - (bought[owner] ?? 0);
    });
    tallies[name].rank = ranksOf(nets, ranked, traders.count);
  }

  function windowOf(name: WindowName, trader: number): PnlWindow {
    const tally = tallies[name];
    const owner = traders.owner(trader);
    const bought = tally.bought[owner] ?? 0;
    const sold = tally.sold[owner] ?? 0;
    return {
      netUsd: (sold - bought) / 100,
      returnPct: bought === 0 ? null : ((sold - bought) / bought) * 100,
      volumeUsd: (bought + sold) / 100,
      trades: tally.trades[owner] ?? 0,
      rank: tally.rank[trader] ?? 0,
    };
  }

  return {
    at,
    of(trader) {
      if (!tallies.all.rank[trader]) return none;
      return {
        '24h': windowOf('24h', trader),
        '7d': windowOf('7d', trader),
        '30d': windowOf('30d', trader),
        all: windowOf('all', trader),
      };
    },
  };
}

/** Standard competition ranks, highest first: equals share one, and the next is as much lower. */
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
