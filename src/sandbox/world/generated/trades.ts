import { cents, DAY, hash, unit } from '../hash.ts';
import { createPortfolios, SLOTS } from './portfolios.ts';
import { createPositions, type Holding } from './positions.ts';
import type { Tokens } from './tokens.ts';
import type { Traders } from './traders.ts';

/** The length of a generated history. */
export const HISTORY_MS = 120 * DAY;
/** How many trades there are for each thesis. */
export const TRADES_PER_THESIS = 2;

/** All trades of a world, oldest first, and the resulting positions. */
export interface Trades {
  readonly count: number;
  time(index: number): number;
  trader(index: number): number;
  slot(index: number): number;
  /** US cents: positive if paid on a buy, negative if received on a sell. */
  cents(index: number): number;
  /** The number of the position that the trade belongs to. */
  positionNumber(index: number): number;
  /** The trader's balance of the token after the trade. */
  amount(index: number): number;
  position(number: number): Holding;
  /** The token in a slot of a trader. */
  token(trader: number, slot: number): number;
  /** The slot of a token; undefined if the trader does not trade the token. */
  slotOf(trader: number, token: number): number | undefined;
  /** Creates the next trade, dated `now`, and returns its index. */
  next(now: number): number;
}

const salt = { gap: 51, tie: 52, trader: 53, slot: 54, size: 56, budget: 58 };

interface Columns {
  readonly time: Float64Array;
  readonly trader: Uint32Array;
  readonly slot: Uint8Array;
  readonly cents: Float64Array;
  readonly positionNumber: Uint32Array;
  readonly amount: Float64Array;
}

const columns = (size: number): Columns => ({
  time: new Float64Array(size),
  trader: new Uint32Array(size),
  slot: new Uint8Array(size),
  cents: new Float64Array(size),
  positionNumber: new Uint32Array(size),
  amount: new Float64Array(size),
});

function widen(old: Columns, size: number): Columns {
  const wide = columns(size);
  for (const key of Object.keys(wide) as (keyof Columns)[]) wide[key].set(old[key]);
  return wide;
}

/**
 * Simulates the history. Each trade is computed from the hash of its number and from the trader's balance, so
 * that no trader sells more than they bought.
 */
export function createTrades(
  seed: number,
  traders: Traders,
  tokens: Tokens,
  history: number,
  now: number,
): Trades {
  let data = columns(history + 64);
  let count = 0;
  const positions = createPositions(traders.count * SLOTS, history);
  const portfolios = createPortfolios(seed, traders, tokens);
  const { active } = traders;
  // The largest purchase of a trader: a few hundred dollars for most traders, and thousands for some.
  const budgets = Float64Array.from({ length: traders.count }, (_, trader) => {
    const draw = unit(seed, salt.budget, trader);
    return 180 + 3_600 * draw * draw * draw;
  });

  function addTrade(time: number): void {
    const draw = unit(seed, salt.trader, count);
    const trader = active[Math.floor(draw * draw * active.length)] ?? 0;
    const where = unit(seed, salt.slot, count);
    const slot = Math.floor(where * Math.sqrt(where) * SLOTS);
    const place = trader * SLOTS + slot;
    const price = tokens.price(portfolios.token(trader, slot), time);
    const bits = hash(seed, salt.size, count);
    const side = (bits >>> 16) / 2 ** 16;
    const size = (bits & 0xffff) / 2 ** 16;
    const balance = positions.amount(place);
    let signed: number;
    if (balance > 0 && side < 0.48) {
      // Half of all sells close the position; the others reduce it.
      const amount = side < 0.24 ? balance : balance * (0.1 + 0.8 * size);
      signed = -positions.sell(place, amount, price, time);
    } else {
      signed = cents(5 + (budgets[trader] ?? 0) * size * size * size);
      positions.buy(place, signed / 100 / price, signed / 100, time);
    }
    if (count === data.time.length) data = widen(data, count + Math.max(1_024, count >>> 3));
    data.time[count] = time;
    data.trader[count] = trader;
    data.slot[count] = slot;
    data.cents[count] = signed;
    data.positionNumber[count] = positions.current(place);
    data.amount[count] = positions.amount(place);
    count++;
  }

  const timeOf = tradeTimes(seed, history, now);
  for (let index = 0; index < history; index++) addTrade(timeOf(index));

  return {
    get count() {
      return count;
    },
    time: (index) => data.time[index] ?? 0,
    trader: (index) => data.trader[index] ?? 0,
    slot: (index) => data.slot[index] ?? 0,
    cents: (index) => data.cents[index] ?? 0,
    positionNumber: (index) => data.positionNumber[index] ?? 0,
    amount: (index) => data.amount[index] ?? 0,
    position: positions.position,
    token: portfolios.token,
    slotOf: portfolios.slotOf,
    next(at) {
      // The clock may have been set back, but trades must be in order.
      addTrade(Math.max(at, count > 0 ? (data.time[count - 1] ?? at) : at));
      return count - 1;
    },
  };
}

/** The number of trades in a burst. They all have the same time, so their theses do not fit on a page of 20. */
const BURST = 120;

/**
 * The times of all trades, in ascending order. Trades are more frequent towards `now`, as on a growing
 * platform. Some have the same millisecond: pairs, groups of up to 16, and one burst.
 */
function tradeTimes(seed: number, history: number, now: number): (index: number) => number {
  const burst = history > 40 * BURST ? history - 12 * BURST : Number.NaN;
  let last = now - HISTORY_MS;
  return (index) => {
    const inBurst = index > burst && index < burst + BURST;
    const together = index % 16 !== 0 && hash(seed, salt.tie, index >> 4) % 80 === 0;
    const paired = hash(seed, salt.tie, ~index) % 50 === 0;
    if (index > 0 && (inBurst || together || paired)) return last;
    const left = 1 - (index + unit(seed, salt.gap, index)) / history;
    last = Math.max(last, Math.floor(now - HISTORY_MS * left * Math.sqrt(left)));
    return last;
  };
}
