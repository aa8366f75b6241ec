import { cents } from '../hash.ts';

/** The state of a position after its last trade. */
export interface Holding {
  readonly amount: number;
  /** The average price paid per unit, in USD. */
  readonly cost: number;
  readonly realizedUsd: number;
  readonly boughtUsd: number;
  readonly sold: boolean;
  readonly lastTrade: number;
  readonly closed: boolean;
}

/**
 * The positions of all traders, numbered in the order in which they were opened. A place stands for one
 * trader and one of the tokens that this trader trades; it has at most one open position.
 */
export function createPositions(places: number, history: number) {
  const current = new Int32Array(places).fill(-1);
  let capacity = Math.ceil(history / 2) + 64;
  let opened = 0;
  const field = () => new Float64Array(capacity);
  let amounts = field();
  let costs = field();
  let realized = field();
  let bought = field();
  let lastTrade = field();
  let state = new Uint8Array(capacity);
  const SOLD = 1;
  const CLOSED = 2;

  function open(place: number): number {
    if (opened === capacity) {
      capacity *= 2;
      const wider = (old: Float64Array) => {
        const wide = field();
        wide.set(old);
        return wide;
      };
      [amounts, costs, realized] = [wider(amounts), wider(costs), wider(realized)];
      [bought, lastTrade] = [wider(bought), wider(lastTrade)];
      const wide = new Uint8Array(capacity);
      wide.set(state);
      state = wide;
    }
    current[place] = opened;
    return opened++;
  }

  const at = (place: number) => current[place] ?? -1;

  return {
    current: at,
    amount: (place: number) => (at(place) < 0 ? 0 : (amounts[at(place)] ?? 0)),
    buy(place: number, amount: number, usd: number, time: number): void {
      let number = at(place);
      if (number < 0 || (state[number] ?? 0) & CLOSED) number = open(place);
      const before = amounts[number] ?? 0;
      const spent = before * (costs[number] ?? 0) + usd;
      amounts[number] = before + amount;
      costs[number] = spent / (before + amount);
      bought[number] = (bought[number] ?? 0) + usd;
      lastTrade[number] = time;
    },
    /** Sells an amount. Returns the cents received. */
    sell(place: number, amount: number, price: number, time: number): number {
      const number = at(place);
      const left = (amounts[number] ?? 0) - amount;
      const received = Math.max(1, cents(amount * price));
      realized[number] = (realized[number] ?? 0) + received / 100 - amount * (costs[number] ?? 0);
      amounts[number] = left;
      lastTrade[number] = time;
      state[number] = SOLD | (left > 0 ? 0 : CLOSED);
      return received;
    },
    position(number: number): Holding {
      const flags = state[number] ?? 0;
      return {
        amount: amounts[number] ?? 0,
        cost: costs[number] ?? 0,
        realizedUsd: realized[number] ?? 0,
        boughtUsd: bought[number] ?? 0,
        sold: (flags & SOLD) !== 0,
        closed: (flags & CLOSED) !== 0,
        lastTrade: lastTrade[number] ?? 0,
      };
    },
  };
}
