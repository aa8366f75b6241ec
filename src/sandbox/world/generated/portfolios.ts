import { unit } from '../hash.ts';
import { BOTH } from './cast.ts';
import type { Tokens } from './tokens.ts';
import type { Traders } from './traders.ts';

/** Tokens that one trader deals in. */
export const SLOTS = 10;
const salt = { token: 57 };

/** The tokens each trader deals in: a few of those on their chains, no token twice. */
export function createBags(seed: number, traders: Traders, tokens: Tokens) {
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
