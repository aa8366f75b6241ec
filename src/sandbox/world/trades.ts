import { BOTH } from './cast.ts';
import { cents, DAY, hash, unit } from './rng.ts';
import type { Tokens } from './tokens.ts';
import type { Traders } from './traders.ts';

/** How far back a world's history goes. */
export const SPAN = 120 * DAY;
/** Tokens that one trader deals in. */
export const SLOTS = 10;
/** Trades to each one that a thesis is written about. */
export const TRADES_PER_THESIS = 2;

/** One swap. */
export interface Trade {
  readonly time: number;
  readonly trader: number;
  readonly slot: number;
  /** US cents: above 0 paid on a buy, below 0 received on a sell. */
  readonly cents: number;
  /** The position that it belongs to, from opening to closing. */
  readonly episode: number;
  /** What the trader holds of the token after it. */
  readonly amount: number;
}

/** A position as it stands after its last trade. */
export interface Episode {
  readonly amount: number;
  /** USD paid for one unit of what is held, on average. */
  readonly cost: number;
  readonly realizedUsd: number;
  readonly boughtUsd: number;
  readonly sold: boolean;
  readonly lastTrade: number;
  readonly closed: boolean;
}

/** Every trade of a world, oldest first, and the positions that they add up to. */
export interface Trades {
  readonly count: number;
  time(index: number): number;
  trader(index: number): number;
  slot(index: number): number;
  cents(index: number): number;
  episode(index: number): number;
  amount(index: number): number;
  position(episode: number): Episode;
  /** The token a trader deals in at a slot. */
  token(trader: number, slot: number): number;
  /** The slot at which a trader deals in a token; undefined where they don't. */
  slotOf(trader: number, token: number): number | undefined;
  /** Makes the next trade, at `now`, and gives its index. */
  next(now: number): number;
}

const salt = { gap: 51, tie: 52, who: 53, slot: 54, size: 56, token: 57, means: 58 };

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
    if (count === data.time.length) data = widen(data, count * 2);
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

/** The tokens each trader deals in: a few of those on their chains, no token twice. */
function createBags(seed: number, traders: Traders, tokens: Tokens) {
  const bags = new Int32Array(traders.count * SLOTS).fill(-1);
  function fill(trader: number): void {
    const chains = traders.chains(trader) || BOTH;
    const start = trader * SLOTS;
    let end = start;
    for (let draw = 0; end < start + SLOTS; draw++) {
      const token = tokens.choose(chains, unit(seed, salt.token + draw * 64, trader));
      if (!has(start, end, token)) bags[end++] = token;
    }
  }
  // A loop over the few: a view of the array for each draw would take most of a small world's time.
  function has(start: number, end: number, token: number): boolean {
    for (let at = start; at < end; at++) if (bags[at] === token) return true;
    return false;
  }
  function token(trader: number, slot: number): number {
    if (bags[trader * SLOTS] === -1) fill(trader);
    return bags[trader * SLOTS + slot] ?? 0;
  }
  return {
    token,
    slotOf(trader: number, wanted: number): number | undefined {
      for (let slot = 0; slot < SLOTS; slot++) if (token(trader, slot) === wanted) return slot;
      return undefined;
    },
  };
}

/** What is held at each place (a trader's slot), kept by position from its opening to its closing. */
function createBooks(places: number, history: number) {
  const current = new Int32Array(places).fill(-1);
  let room = Math.ceil(history / 2) + 64;
  let opened = 0;
  const field = () => new Float64Array(room);
  let amounts = field();
  let costs = field();
  let realized = field();
  let bought = field();
  let lastTrade = field();
  let state = new Uint8Array(room);
  const SOLD = 1;
  const CLOSED = 2;

  function open(place: number): number {
    if (opened === room) {
      room *= 2;
      const wider = (old: Float64Array) => {
        const wide = field();
        wide.set(old);
        return wide;
      };
      [amounts, costs, realized] = [wider(amounts), wider(costs), wider(realized)];
      [bought, lastTrade] = [wider(bought), wider(lastTrade)];
      const wide = new Uint8Array(room);
      wide.set(state);
      state = wide;
    }
    current[place] = opened;
    return opened++;
  }

  const at = (place: number) => current[place] ?? -1;

  return {
    episode: at,
    amount: (place: number) => (at(place) < 0 ? 0 : (amounts[at(place)] ?? 0)),
    buy(place: number, amount: number, usd: number, time: number): void {
      let episode = at(place);
      if (episode < 0 || (state[episode] ?? 0) & CLOSED) episode = open(place);
      const before = amounts[episode] ?? 0;
      const spent = before * (costs[episode] ?? 0) + usd;
      amounts[episode] = before + amount;
      costs[episode] = spent / (before + amount);
      bought[episode] = (bought[episode] ?? 0) + usd;
      lastTrade[episode] = time;
    },
    /** Gives the cents received. */
    sell(place: number, amount: number, price: number, time: number): number {
      const episode = at(place);
      const left = (amounts[episode] ?? 0) - amount;
      const received = Math.max(1, cents(amount * price));
      realized[episode] = (realized[episode] ?? 0) + received / 100 - amount * (costs[episode] ?? 0);
      amounts[episode] = left;
      lastTrade[episode] = time;
      state[episode] = SOLD | (left > 0 ? 0 : CLOSED);
      return received;
    },
    position(episode: number): Episode {
      const flags = state[episode] ?? 0;
      return {
        amount: amounts[episode] ?? 0,
        cost: costs[episode] ?? 0,
        realizedUsd: realized[episode] ?? 0,
        boughtUsd: bought[episode] ?? 0,
        sold: (flags & SOLD) !== 0,
        closed: (flags & CLOSED) !== 0,
        lastTrade: lastTrade[episode] ?? 0,
      };
    },
  };
}
