import { cents, DAY, hash, unit } from '../hash.ts';
import { createBags, SLOTS } from './portfolios.ts';
import { createBooks, type Episode } from './positions.ts';
import type { Tokens } from './tokens.ts';
import type { Traders } from './traders.ts';

/** How far back a world's history goes. */
export const SPAN = 120 * DAY;
/** Trades to each one that a thesis is written about. */
export const TRADES_PER_THESIS = 2;

/** Every trade of a world, oldest first, and the positions that they add up to. */
export interface Trades {
  readonly count: number;
  time(index: number): number;
  trader(index: number): number;
  slot(index: number): number;
  /** US cents: above 0 paid on a buy, below 0 received on a sell. */
  cents(index: number): number;
  /** The position that it belongs to, from opening to closing. */
  episode(index: number): number;
  /** What the trader holds of the token after it. */
  amount(index: number): number;
  position(episode: number): Episode;
  /** The token a trader deals in at a slot. */
  token(trader: number, slot: number): number;
  /** The slot at which a trader deals in a token; undefined where they don't. */
  slotOf(trader: number, token: number): number | undefined;
  /** Makes the next trade, at `now`, and gives its index. */
  next(now: number): number;
}

const salt = { gap: 51, tie: 52, who: 53, slot: 54, size: 56, means: 58 };

interface Columns {
  readonly time: Float64Array;
  readonly trader: Uint32Array;
  readonly slot: Uint8Array;
  readonly cents: Float64Array;
  readonly episode: Uint32Array;
  readonly amount: Float64Array;
}

const columns = (size: number): Columns => ({
  time: new Float64Array(size),
  trader: new Uint32Array(size),
  slot: new Uint8Array(size),
  cents: new Float64Array(size),
  episode: new Uint32Array(size),
  amount: new Float64Array(size),
});

function widen(old: Columns, size: number): Columns {
  const wide = columns(size);
  for (const key of Object.keys(wide) as (keyof Columns)[]) wide[key].set(old[key]);
  return wide;
}

/**
 * Plays the history: each trade is drawn by hash of its number and settles against what its trader holds,
 * so nothing is ever sold that was not bought.
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
  const books = createBooks(traders.count * SLOTS, history);
  const bags = createBags(seed, traders, tokens);
  const { active } = traders;
  // Most trade for hundreds, a few for thousands.
  const means = Float64Array.from({ length: traders.count }, (_, trader) => {
    const draw = unit(seed, salt.means, trader);
    return 180 + 3_600 * draw * draw * draw;
  });

  function settle(time: number): void {
    const draw = unit(seed, salt.who, count);
    const trader = active[Math.floor(draw * draw * active.length)] ?? 0;
    const where = unit(seed, salt.slot, count);
    const slot = Math.floor(where * Math.sqrt(where) * SLOTS);
    const place = trader * SLOTS + slot;
    const price = tokens.price(bags.token(trader, slot), time);
    const bits = hash(seed, salt.size, count);
    const side = (bits >>> 16) / 2 ** 16;
    const size = (bits & 0xffff) / 2 ** 16;
    const held = books.amount(place);
    let signed: number;
    if (held > 0 && side < 0.48) {
      // Half of all sells close the position; the others take a part of it.
      const amount = side < 0.24 ? held : held * (0.1 + 0.8 * size);
      signed = -books.sell(place, amount, price, time);
    } else {
      signed = cents(5 + (means[trader] ?? 0) * size * size * size);
      books.buy(place, signed / 100 / price, signed / 100, time);
    }
    if (count === data.time.length) data = widen(data, count + Math.max(1_024, count >>> 3));
    data.time[count] = time;
    data.trader[count] = trader;
    data.slot[count] = slot;
    data.cents[count] = signed;
    data.episode[count] = books.episode(place);
    data.amount[count] = books.amount(place);
    count++;
  }

  const timeOf = clock(seed, history, now);
  for (let index = 0; index < history; index++) settle(timeOf(index));

  return {
    get count() {
      return count;
    },
    time: (index) => data.time[index] ?? 0,
    trader: (index) => data.trader[index] ?? 0,
    slot: (index) => data.slot[index] ?? 0,
    cents: (index) => data.cents[index] ?? 0,
    episode: (index) => data.episode[index] ?? 0,
    amount: (index) => data.amount[index] ?? 0,
    position: books.position,
    token: bags.token,
    slotOf: bags.slotOf,
    next(at) {
      // A clock that was set back does not undo the order of what has happened.
      settle(Math.max(at, count > 0 ? (data.time[count - 1] ?? at) : at));
      return count - 1;
    },
  };
}

/** Trades of the burst: all of them in one millisecond, over several pages. */
const BURST = 120;

/**
 * The time of each trade, never falling: ever denser towards `now`, as on a platform that grows, with ties
 * of two, of some eight, and once of a burst over several pages.
 */
function clock(seed: number, history: number, now: number): (index: number) => number {
  const burst = history > 40 * BURST ? history - 12 * BURST : Number.NaN;
  let last = now - SPAN;
  return (index) => {
    const inBurst = index > burst && index < burst + BURST;
    const together = index % 16 !== 0 && hash(seed, salt.tie, index >> 4) % 80 === 0;
    const paired = hash(seed, salt.tie, ~index) % 50 === 0;
    if (index > 0 && (inBurst || together || paired)) return last;
    const left = 1 - (index + unit(seed, salt.gap, index)) / history;
    last = Math.max(last, Math.floor(now - SPAN * left * Math.sqrt(left)));
    return last;
  };
}
