import { join } from 'node:path';
import { appendLines, ensureFolder } from '../base/files.ts';
import { isHeld, tryLock } from '../base/lock.ts';
import { writeAtomic } from '../base/replace-file.ts';
import { latestLines } from './latest-lines.ts';

/** A token of a post: its ticker, address and chain. */
export interface KnownToken {
  readonly symbol: string;
  readonly address: string;
  readonly network: string;
}

const LARGEST = 256 * 1024;
/**
 * A ticker can be any text. Only tickers of at most 40 characters without white space and control characters
 * are saved.
 */
const PLAIN = /^[^\s\p{C}]{1,40}$/u;
const ADDRESS = /^[A-Za-z0-9]{20,64}$/;
const NETWORK = /^[a-z0-9-]{0,20}$/;

const fileIn = (folder: string) => join(folder, 'tokens');

/**
 * Saves the tokens of posts that were just printed, so that `--token SYMBOL` can find their addresses free of
 * charge.
 */
export function noteTokens(folder: string, tokens: readonly KnownToken[]): void {
  const known = new Set(tokensIn(folder).map(lineOf));
  const lines = new Set(tokens.filter(isPlain).map(lineOf));
  const fresh = [...lines].filter((line) => !known.has(line));
  if (fresh.length === 0) return;
  ensureFolder(folder);
  const path = fileIn(folder);
  if (appendLines(path, `${fresh.join('\n')}\n`).after <= LARGEST) return;
  const lock = tryLock(`${path}.lock`);
  if (!isHeld(lock)) return;
  try {
    // Other processes append without a lock, so a token that one of them adds at this moment may be lost. It
    // is added again when another post about it is printed.
    const latest = tokensIn(folder).slice(-2_000).map(lineOf);
    writeAtomic(path, `${latest.join('\n')}\n`, { sync: false });
  } finally {
    lock.release();
  }
}

/** The saved tokens, oldest first. */
export function tokensIn(folder: string): KnownToken[] {
  return latestLines(fileIn(folder), LARGEST, 'utf8')
    .map((line) => {
      const [symbol = '', address = '', network = ''] = line.split('\t');
      return { symbol, address, network };
    })
    .filter(isPlain);
}

const isPlain = ({ symbol, address, network }: KnownToken) =>
  PLAIN.test(symbol) && ADDRESS.test(address) && NETWORK.test(network);
const lineOf = ({ symbol, address, network }: KnownToken) => `${symbol}\t${address}\t${network}`;
