import { join } from 'node:path';
import { remember, remembered } from './remember.ts';

/** A token of a post: its ticker, address and chain. */
export interface KnownToken {
  readonly symbol: string;
  readonly address: string;
  readonly network: string;
}

/**
 * A ticker can be any text. Only tickers of at most 40 characters without white space and control characters
 * are saved.
 */
const PLAIN = /^[^\s\p{C}]{1,40}$/u;
const ADDRESS = /^[A-Za-z0-9]{20,64}$/;
const NETWORK = /^[a-z0-9-]{0,20}$/;
const MOST = 2_000;

const fileIn = (folder: string) => join(folder, 'tokens');

/**
 * Saves the tokens of posts that were just printed, so that `--token SYMBOL` can find their addresses free of
 * charge.
 */
export function noteTokens(folder: string, tokens: readonly KnownToken[]): void {
  const known = new Set(remembered(fileIn(folder)));
  const lines = new Set(tokens.filter(isPlain).map(lineOf));
  const fresh = [...lines].filter((line) => !known.has(line));
  if (fresh.length > 0) remember(fileIn(folder), fresh, MOST);
}

/** The saved tokens, oldest first. */
export const tokensIn = (folder: string): KnownToken[] =>
  remembered(fileIn(folder))
    .map((line) => {
      const [symbol = '', address = '', network = ''] = line.split('\t');
      return { symbol, address, network };
    })
    .filter(isPlain);

const isPlain = ({ symbol, address, network }: KnownToken) =>
  PLAIN.test(symbol) && ADDRESS.test(address) && NETWORK.test(network);
const lineOf = ({ symbol, address, network }: KnownToken) => `${symbol}\t${address}\t${network}`;
