import { usageError } from '../../base/failure.ts';
import { createSearch } from './pattern-search.ts';

/** Conditions that trdr checks itself, after it has received the posts. */
export interface FilterOptions<R extends Filterable = Filterable> {
  /** The case of EVM addresses is ignored. */
  readonly tokens?: readonly string[] | undefined;
  readonly userId?: string | undefined;
  readonly symbols?: readonly string[] | undefined;
  readonly minHoldings?: number | undefined;
  readonly devOnly?: boolean | undefined;
  readonly grep?: RegExp | undefined;
  readonly exclude?: RegExp | undefined;
  /** `tokenSymbol` by default. */
  readonly symbolField?: string | undefined;
  /** When a pattern timed out. The condition then counts as met, because it may be met. */
  readonly onTimeout?: ((row: R) => void) | undefined;
}

/** Callers may add other members. */
interface Filterable {
  readonly record: Readonly<Record<string, unknown>>;
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
/** As the service does. */
export const normalToken = (address: string): string =>
  /^0x/i.test(address) ? address.toLowerCase() : address;
export const normalSymbol = (symbol: string): string => symbol.replace(/^\$/, '').toLowerCase();

const everything = () => true;

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

/** A pattern without upper-case letters ignores case. */
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
