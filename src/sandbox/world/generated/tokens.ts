import { pick, randomEvm, randomOf, randomSolana } from '../../random.ts';
import { tickers } from './words.ts';

export interface Token {
  readonly address: string;
  readonly network: 'sol' | 'eth' | 'base';
  readonly symbol: string | null;
  readonly name: string | null;
  readonly price: number;
  readonly marketCap: number;
}

/** Makes the tokens, most popular first. They are the same in every world, so that docs can refer to them. */
export function makeTokens(): Token[] {
  const random = randomOf(0, 'tokens');
  return [...tickers, null, ...tickers.map((ticker) => `${ticker}2`)].map((symbol, index) => {
    const network = index % 3 !== 1 ? 'sol' : index % 2 === 0 ? 'eth' : 'base';
    return {
      address: network === 'sol' ? randomSolana(random) : randomEvm(random),
      network,
      symbol,
      name: symbol && `${symbol} ${pick(random, ['Coin', 'Token', 'Cash', `on ${network}`])}`,
      price: 0.00001 + 60 * random() ** 6,
      marketCap: 20_000 + 4e7 * random() ** 6,
    };
  });
}
