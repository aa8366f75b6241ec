import { usageError } from '../../base/failure.ts';
import { textOf } from '../../base/json-object.ts';
import { closedAtOf } from '../../contract/read-record.ts';
import { createSearch } from './pattern-search.ts';

/**
 * Conditions that trdr checks itself, after it has received the posts. Those of flags have the
 * names of the flags.
 */
export interface Conditions {
  /** The case of EVM addresses is ignored. */
  readonly tokens?: readonly string[] | undefined;
  /** The ids of authors, and their handles for posts that lack the id. */
  readonly users?: readonly string[] | undefined;
  readonly coins?: readonly string[] | undefined;
  readonly wallets?: readonly string[] | undefined;
  readonly symbol?: readonly string[] | undefined;
  /** The names of chains; their case is ignored. */
  readonly network?: readonly string[] | undefined;
  readonly minHoldings?: number | undefined;
  readonly minTrade?: number | undefined;
  readonly minLikes?: number | undefined;
  readonly devOnly?: boolean | undefined;
  readonly open?: boolean | undefined;
  readonly closed?: boolean | undefined;
  readonly grep?: RegExp | undefined;
  readonly exclude?: RegExp | undefined;
}

export interface FilterOptions<R extends Filterable = Filterable> extends Conditions {
  /** `tokenSymbol` by default. */
  readonly symbolField?: string | undefined;
  /** `tokenNetwork` by default. */
  readonly networkField?: string | undefined;
  /** When a pattern timed out. The condition then counts as met, because it may be met. */
  readonly onTimeout?: ((row: R) => void) | undefined;
  /** When a post that is not by the users has no author id, so that it may be by one of them. */
  readonly onUnnamed?: (() => void) | undefined;
}

/** Callers may add other members. */
interface Filterable {
  readonly record: PostFields;
  /** The fields that say who wrote the post, if they are known without the record. */
  readonly author?: PostFields | undefined;
}

type PostFields = Readonly<Record<string, unknown>>;

/** The id of the author, which a post may lack; then the handle. */
export const authorNameOf = (author: PostFields): string =>
  normalName(textOf(author['authorId']) ?? textOf(author['authorHandle']) ?? '');

/** Normalizes a token address as the service does. */
export const normalToken = (address: string): string =>
  /^0x/i.test(address) ? address.toLowerCase() : address;
export const normalSymbol = (symbol: string): string => symbol.replace(/^\$+/, '').toLowerCase();
/** Normalizes the name of a chain, or the id of a user. */
export const normalName = (name: string): string => name.toLowerCase();

const everything = () => true;

export function createFilter<R extends Filterable>({
  symbolField = 'tokenSymbol',
  networkField = 'tokenNetwork',
  onTimeout,
  onUnnamed,
  ...wanted
}: FilterOptions<R>): (row: R) => boolean {
  const matches = (pattern: RegExp, expected: boolean) => {
    const search = createSearch(pattern);
    return (row: R) => {
      const found = search(textOf(row.record['thesis']) ?? '');
      if (found === undefined) onTimeout?.(row);
      return found === undefined || found === expected;
    };
  };
  const atLeast = (field: string, least: number | undefined) =>
    least !== undefined &&
    (({ record: { [field]: size } }: R) => typeof size === 'number' && size >= least);
  const among = (
    field: string,
    values: readonly string[] = [],
    normal: (text: string) => string = normalToken,
  ) => {
    const set = new Set(values.map(normal));
    return set.size > 0 && (({ record }: R) => set.has(normal(textOf(record[field]) ?? '')));
  };
  const { symbol = [], grep, exclude, users = [] } = wanted;
  const authors = new Set(users.map(normalName));
  const symbols = new Set(symbol.map(normalSymbol));
  const tests: Readonly<Record<keyof Conditions, ((row: R) => boolean) | false | undefined>> = {
    tokens: among('tokenAddress', wanted.tokens),
    users:
      authors.size > 0 &&
      (({ record, author = record }) => {
        const isOne = authors.has(authorNameOf(author));
        if (!isOne && !textOf(author['authorId'])) onUnnamed?.();
        return isOne;
      }),
    coins: among('coinMint', wanted.coins),
    wallets: among('wallet', wanted.wallets),
    symbol:
      symbol.length > 0 &&
      (({ record }) => symbols.has(normalSymbol(textOf(record[symbolField]) ?? ''))),
    network: among(networkField, wanted.network, normalName),
    minHoldings: atLeast('holdingsUsd', wanted.minHoldings),
    minTrade: atLeast('authorTradeUsd', wanted.minTrade),
    minLikes: atLeast('likeCount', wanted.minLikes),
    devOnly: wanted.devOnly && (({ record }) => record['authorIsDev'] === true),
    // Without the field, it is not known whether the position is open.
    open: wanted.open && (({ record }) => record['closedAt'] === null),
    closed: wanted.closed && (({ record }) => typeof closedAtOf(record) === 'number'),
    grep: grep && matches(grep, true),
    exclude: exclude && matches(exclude, false),
  };
  const all = Object.values(tests).filter((test) => typeof test === 'function');
  return all.length === 0 ? everything : (row) => all.every((test) => test(row));
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
