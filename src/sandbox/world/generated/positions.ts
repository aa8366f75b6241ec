import { cents } from '../hash.ts';

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

/** What is held at each place (a trader's slot), kept by position from its opening to its closing. */
export function createBooks(places: number, history: number) {
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
