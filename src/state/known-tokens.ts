import { join } from 'node:path';
import { remember, remembered } from './recent-lines.ts';

/** A token of a post: its ticker, address and network. */
export interface KnownToken {
  readonly symbol: string;
  readonly address: string;
  readonly network: string;
}

/**
 * The tickers that are saved: those that a user can write on a command line. A ticker can be any
 * text.
 */
const PLAIN = /^[^\s\p{C}]{1,40}$/u;
const ADDRESS = /^[A-Za-z0-9]{20,64}$/;
const NETWORK = /^[a-z0-9-]{0,20}$/;
const TOKENS_MAX = 2_000;

const fileIn = (folder: string) => join(folder, 'tokens');

/**
 * Saves the tokens of posts that were just printed, so that `--token SYMBOL` finds their addresses
 * free of charge.
 */
export function noteTokens(folder: string, tokens: readonly KnownToken[]): void {
  const saved = new Set(remembered(fileIn(folder)));
  const lines = new Set(tokens.filter(isPlain).map(lineOf));
  const fresh = [...lines].filter((line) => !saved.has(line));
  if (fresh.length > 0) remember(fileIn(folder), fresh, TOKENS_MAX);
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
