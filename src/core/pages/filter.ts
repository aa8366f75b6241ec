import { usageError } from '../../base/failure.ts';
import { createSearch } from './pattern-search.ts';

/** Conditions on posts that trdr checks itself, after it has received the posts. */
export interface FilterOptions<R extends Filterable = Filterable> {
  /** Token addresses; the case of EVM addresses is ignored. */
  readonly tokens?: readonly string[] | undefined;
  readonly userId?: string | undefined;
  readonly symbols?: readonly string[] | undefined;
  readonly minHoldings?: number | undefined;
  readonly devOnly?: boolean | undefined;
  /** The pattern that the text must match. */
  readonly grep?: RegExp | undefined;
  /** The pattern that the text must not match. */
  readonly exclude?: RegExp | undefined;
  /** The name of the field with the symbol; `tokenSymbol` by default. */
  readonly symbolField?: string | undefined;
  /** Called for a post on which a pattern timed out. The condition then counts as met, because it may be met. */
  readonly onTimeout?: ((row: R) => void) | undefined;
}

/** An object that has a post in `record`; callers may add other members. */
interface Filterable {
  readonly record: Readonly<Record<string, unknown>>;
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
/** Normalizes a token address for comparison, as the service does. */
export const normalToken = (address: string): string =>
  /^0x/i.test(address) ? address.toLowerCase() : address;
/** Normalizes a symbol for comparison: lower case, without a leading dollar sign. */
export const normalSymbol = (symbol: string): string => symbol.replace(/^\$/, '').toLowerCase();

const everything = () => true;

/** Creates a function that returns whether a post meets all conditions. */
export function createFilter<R extends Filterable>({
  tokens,
  userId,
  symbols,
  minHoldings,
  devOnly,
  grep,
  exclude,
  symbolField = 'tokenSymbol',
  onTimeout,
}: FilterOptions<R>): (row: R) => boolean {
  const tests: ((row: R) => boolean)[] = [];
  if (tokens && tokens.length > 0) {
    const wanted = new Set(tokens.map(normalToken));
    tests.push(({ record }) => wanted.has(normalToken(textOf(record['tokenAddress']) ?? '')));
  }
  if (userId !== undefined) tests.push(({ record }) => record['authorId'] === userId);
  if (symbols && symbols.length > 0) {
    const wanted = new Set(symbols.map(normalSymbol));
    tests.push(({ record }) => wanted.has((textOf(record[symbolField]) ?? '').toLowerCase()));
  }
  if (minHoldings !== undefined) {
    tests.push(
      ({ record: { holdingsUsd } }) => typeof holdingsUsd === 'number' && holdingsUsd >= minHoldings,
    );
  }
  if (devOnly) tests.push(({ record }) => record['authorIsDev'] === true);
  const matches = (pattern: RegExp, expected: boolean) => {
    const search = createSearch(pattern);
    tests.push((row) => {
      const found = search(textOf(row.record['thesis']) ?? '');
      if (found === undefined) onTimeout?.(row);
      return found === undefined || found === expected;
    });
  };
  if (grep) matches(grep, true);
  if (exclude) matches(exclude, false);
  return tests.length === 0 ? everything : (row) => tests.every((test) => test(row));
}

/** Parses a pattern from the user. A pattern without upper-case letters ignores case. */
export function readPattern(text: string): RegExp {
  try {
    return new RegExp(text, /[A-Z]/.test(text) ? 'u' : 'iu');
  } catch (cause) {
    throw usageError(
      `invalid pattern "${text}": ${cause instanceof Error ? cause.message : cause}`,
      'write \\ before special characters such as ( and *, and only before them',
    );
  }
}
