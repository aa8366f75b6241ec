import { evmOf, normalAddress, numbered, solanaOf } from '../address.ts';
import { DAY, HOUR, hash, pick, unit } from '../hash.ts';
import { EVM, SOLANA } from './fixed-traders.ts';
import { tickers } from './words.ts';

/** A token that is traded and that theses are about. */
export interface Token {
  readonly index: number;
  readonly address: string;
  readonly network: 'sol' | 'eth' | 'base';
  readonly chain: number;
  readonly symbol: string | null;
  readonly name: string | null;
  readonly image: string | null;
  readonly supply: number;
}

export interface Tokens {
  readonly count: number;
  at(index: number): Token;
  /** Returns the index of the token at an address. The case of EVM addresses is ignored. */
  indexOf(address: string): number | undefined;
  /**
   * The price in USD at a time. Computed only with basic arithmetic, so that the result is the same on every
   * machine.
   */
  price(index: number, time: number): number;
  /** Chooses a token on one of these chains by `draw`, a number in [0, 1). Low indices are more likely. */
  choose(chains: number, draw: number): number;
}

const salt = { base: 31, slow: 32, day: 33, hour: 34, image: 35, address: 36, cap: 37 };
/** The number of tokens that have the same addresses in every world, so that docs can show them. */
const FIXED = 6;
const FIXED_SEED = 0x70c3;
/** Symbols that a table, a spreadsheet or a terminal may handle incorrectly. */
const unusualSymbols: Readonly<Record<number, string | null>> = {
  7: '東京',
  11: '=SUM(A1)',
  13: '$CASH',
  17: null,
  19: '🐸',
  23: '\u001b[7mINV\u001b[0m',
  29: '@here',
  31: 'عملة',
};

/** Creates the tokens of a world whose history starts at `origin`. */
export function createTokens(seed: number, count: number, origin: number): Tokens {
  const fixedIds = numbered(FIXED_SEED, salt.address);
  const seedIds = numbered(seed, salt.address);
  const records: Token[] = [];
  const lists: Record<number, Uint32Array> = {};
  let byAddress: Map<string, number> | undefined;

  const chainOf = (index: number) => (index % 3 === 1 ? EVM : SOLANA);
  for (const chains of [SOLANA, EVM, SOLANA | EVM]) {
    lists[chains] = Uint32Array.from({ length: count }, (_, index) => index).filter(
      (index) => chainOf(index) & chains,
    );
  }

  const base = new Float64Array(count);
  for (let index = 0; index < count; index++) {
    const draw = unit(seed, salt.base, index);
    // A price from 0.00001 to 60 dollars; most prices are far below one dollar.
    base[index] = 0.00001 + draw * draw * draw * draw * draw * draw * 60;
  }

  const slow = wave(seed, salt.slow, count, origin, 9 * DAY, 0.15, 2.4);
  const day = wave(seed, salt.day, count, origin, 14 * HOUR, 0.55, 1.6);
  const hour = wave(seed, salt.hour, count, origin, HOUR / 2, 0.92, 1.09);

  function at(index: number): Token {
    const made = records[index];
    if (made) return made;
    const chain = chainOf(index);
    const ids = index < FIXED ? fixedIds : seedIds;
    const ticker = tickers[index % tickers.length] ?? 'TKN';
    const round = Math.floor(index / tickers.length);
    const symbol =
      index in unusualSymbols
        ? (unusualSymbols[index] ?? null)
        : round === 0
          ? ticker
          : `${ticker}${round + 1}`;
    const network = chain === SOLANA ? 'sol' : index % 2 === 0 ? 'eth' : 'base';
    const token: Token = {
      index,
      chain,
      network,
      symbol,
      address: chain === SOLANA ? solanaOf(ids.bytes(index, 32)) : evmOf(ids.bytes(index, 20)),
      name: symbol === null ? null : `${symbol} ${pick(['Coin', 'Token', `on ${network}`, 'Cash'], index)}`,
      image:
        index % 8 === 5
          ? null
          : `https://images.example/token/${hash(seed, salt.image, index).toString(16)}.png`,
      // At the base price, results in a market cap between 30,000 and 40 million dollars.
      supply: Math.ceil((30_000 + 4e7 * fourthPower(unit(seed, salt.cap, index))) / (base[index] ?? 1)),
    };
    records[index] = token;
    return token;
  }

  return {
    count,
    at,
    indexOf(address) {
      if (!byAddress) {
        byAddress = new Map();
        for (let index = 0; index < count; index++) byAddress.set(at(index).address, index);
      }
      return byAddress.get(normalAddress(address));
    },
    price: (index, time) => (base[index] ?? 0) * slow(index, time) * day(index, time) * hour(index, time),
    choose(chains, draw) {
      const list = lists[chains] ?? lists[SOLANA | EVM];
      return list?.[Math.floor(draw * draw * list.length)] ?? 0;
    },
  };
}

const fourthPower = (value: number) => value * value * value * value;

/**
 * Value noise: a smooth curve between `low` and `high` for each token, through hashed points at distance
 * `step`. The last two points are cached for each token, because trades are generated in order of time.
 */
function wave(
  seed: number,
  part: number,
  count: number,
  origin: number,
  step: number,
  low: number,
  high: number,
): (index: number, time: number) => number {
  const floors = new Float64Array(count).fill(Number.NaN);
  const froms = new Float64Array(count);
  const tos = new Float64Array(count);
  return (index, time) => {
    const place = (time - origin) / step;
    const floor = Math.floor(place);
    if (floors[index] !== floor) {
      floors[index] = floor;
      froms[index] = unit(seed, part + index * 64, floor);
      tos[index] = unit(seed, part + index * 64, floor + 1);
    }
    const from = froms[index] ?? 0;
    const share = place - floor;
    return low + (high - low) * (from + ((tos[index] ?? 0) - from) * share * share * (3 - 2 * share));
  };
}
