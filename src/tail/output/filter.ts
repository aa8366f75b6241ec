import { usageError } from '../../base/failure.ts';
import type { TailRow } from '../row.ts';
import { createSearch } from './pattern-search.ts';

/** What of a feed is wanted, beyond what the service narrows it to. */
export interface FilterOptions {
  /** Addresses; EVM in any case. */
  readonly tokens?: readonly string[] | undefined;
  readonly userId?: string | undefined;
  readonly symbols?: readonly string[] | undefined;
  readonly minHoldings?: number | undefined;
  readonly devOnly?: boolean | undefined;
  readonly grep?: RegExp | undefined;
  /** Called for a row on which the pattern did not come to an end; the row passes, since nobody knows. */
  readonly endless?: ((row: TailRow) => void) | undefined;
}

type Test = (row: TailRow) => boolean;

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
/** Addresses are compared as the service normalises them. */
export const normalToken = (address: string): string =>
  /^0x/i.test(address) ? address.toLowerCase() : address;

const everything: Test = () => true;

/** A row passes when all that is wanted of it holds. Applied when rows are emitted, never to what is known of them. */
export function createFilter({
  tokens,
  userId,
  symbols,
  minHoldings,
  devOnly,
  grep,
  endless,
}: FilterOptions): Test {
  const tests: Test[] = [];
  if (tokens && tokens.length > 0) {
    const wanted = new Set(tokens.map(normalToken));
    tests.push(({ record }) => wanted.has(normalToken(textOf(record['tokenAddress']) ?? '')));
  }
  if (userId !== undefined) tests.push(({ record }) => record['authorId'] === userId);
  if (symbols && symbols.length > 0) {
    const wanted = new Set(symbols.map((symbol) => symbol.replace(/^\$/, '').toLowerCase()));
    tests.push(({ record }) => wanted.has((textOf(record['tokenSymbol']) ?? '').toLowerCase()));
  }
  if (minHoldings !== undefined) {
    tests.push(
      ({ record: { holdingsUsd } }) => typeof holdingsUsd === 'number' && holdingsUsd >= minHoldings,
    );
  }
  if (devOnly) tests.push(({ record }) => record['authorIsDev'] === true);
  if (grep) {
    const search = createSearch(grep);
    tests.push((row) => {
      const found = search(textOf(row.record['thesis']) ?? '');
      if (found === undefined) endless?.(row);
      return found ?? true;
    });
  }
  return tests.length === 0 ? everything : (row) => tests.every((test) => test(row));
}

/** A pattern of the user's; plain letters match in any case. */
export function readPattern(text: string): RegExp {
  try {
    return new RegExp(text, /[A-Z]/.test(text) ? 'u' : 'iu');
  } catch (cause) {
    throw usageError(
      `"${text}" is not a pattern: ${cause instanceof Error ? cause.message : cause}`,
      'escape special characters with \\',
    );
  }
}
