import { join } from 'node:path';
import { remember, remembered } from './recent-lines.ts';

export interface KnownToken {
  readonly symbol: string;
  readonly address: string;
  readonly network: string;
}

/** A ticker can be any text; others are not saved. */
const PLAIN = /^[^\s\p{C}]{1,40}$/u;
const ADDRESS = /^[A-Za-z0-9]{20,64}$/;
const NETWORK = /^[a-z0-9-]{0,20}$/;
const MOST = 2_000;

const fileIn = (folder: string) => join(folder, 'tokens');

/** So that `--token SYMBOL` can find addresses free of charge. */
export function noteTokens(folder: string, tokens: readonly KnownToken[]): void {
  const known = new Set(remembered(fileIn(folder)));
  const lines = new Set(tokens.filter(isPlain).map(lineOf));
  const fresh = [...lines].filter((line) => !known.has(line));
  if (fresh.length > 0) remember(fileIn(folder), fresh, MOST);
}

/** Oldest first. */
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
