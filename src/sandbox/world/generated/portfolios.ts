import { unit } from '../hash.ts';
import { BOTH } from './fixed-traders.ts';
import type { Tokens } from './tokens.ts';
import type { Traders } from './traders.ts';

/** The number of different tokens that a trader trades. */
export const SLOTS = 10;
const salt = { token: 57 };

/** The tokens that each trader trades: a random selection on the trader's chains, without duplicates. */
export function createPortfolios(seed: number, traders: Traders, tokens: Tokens) {
  const tokensOf = new Int32Array(traders.count * SLOTS).fill(-1);
  function fill(trader: number): void {
    const chains = traders.chains(trader) || BOTH;
    const start = trader * SLOTS;
    let end = start;
    for (let draw = 0; end < start + SLOTS; draw++) {
      const token = tokens.choose(chains, unit(seed, salt.token + draw * 64, trader));
      if (!has(start, end, token)) tokensOf[end++] = token;
    }
  }
  // A plain loop, because creating a subarray for each token took most of the start-up time of a small world.
  function has(start: number, end: number, token: number): boolean {
    for (let at = start; at < end; at++) if (tokensOf[at] === token) return true;
    return false;
  }
  function token(trader: number, slot: number): number {
    if (tokensOf[trader * SLOTS] === -1) fill(trader);
    return tokensOf[trader * SLOTS + slot] ?? 0;
  }
  return {
    token,
    slotOf(trader: number, wanted: number): number | undefined {
      for (let slot = 0; slot < SLOTS; slot++) if (token(trader, slot) === wanted) return slot;
      return undefined;
    },
  };
}
