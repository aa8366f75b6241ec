import { usageError } from '../../base/failure.ts';
import { readPattern } from '../../core/pages/filter.ts';
import { sortBy } from '../../core/pages/sort.ts';
import { didYouMean } from '../../output/suggest.ts';
import { flag, list, value } from './option.ts';
import { type Instant, instantAt, integer, text, time } from './values.ts';

const DEFAULT_ROWS = 20;
/** A list with --limit stops after this many pages without a matching row. */
export const MAX_PAGES_WITHOUT_MATCH = 20;

/** Conditions on the text and the token of a post, for lists and tails. */
export const filterOptions = {
  symbol: list('--symbol', 'only posts about tokens with this symbol', text('symbol')),
  grep: value('--grep', 'only posts that match; lower case matches any case', text('pattern')),
  exclude: value('--exclude', 'only posts that do not match', text('pattern')),
};

/** How many rows a list prints, of what time, and in which order. */
export const listOptions = {
  limit: value(
    '--limit',
    'maximum number of results',
    integer({ min: 1 }),
    `${DEFAULT_ROWS}; unlimited with --since`,
  ),
  all: flag('--all', 'no limit on the number of results'),
  since: value('--since', 'only posts since this time', time),
  until: value('--until', 'only posts before this time', time),
  sort: value('--sort', 'sort by this field: numbers from the largest, text from A', text('field')),
  reverse: flag('--reverse', 'reverse the order'),
};

/** The flags of a list, as given. */
export interface ListFlags {
  readonly limit: number | undefined;
  readonly all: boolean;
  readonly since: Instant | undefined;
  readonly until: Instant | undefined;
  readonly sort: string | undefined;
  readonly reverse: boolean;
}

/** Checks flags that exclude each other; `fields` are the names that --sort accepts. */
export function readListFlags(flags: ListFlags, fields: readonly string[]) {
  const { limit, all, since, sort } = flags;
  if (all && limit !== undefined) throw usageError('--all and --limit cannot be combined', 'use one of them');
  if (sort !== undefined && !fields.includes(sort)) {
    const names = fields.filter((name) => !name.includes('.'));
    throw usageError(
      `unknown field "${sort}" for --sort`,
      didYouMean(sort, names) ?? `choose from ${names.join(', ')}`,
    );
  }
  return { ...flags, rows: limit ?? (all || since !== undefined ? undefined : DEFAULT_ROWS) };
}

/** The times of a range in epoch milliseconds. */
export function readRange({ since, until }: Pick<ListFlags, 'since' | 'until'>, now: number, utc: boolean) {
  const range = {
    since: since && instantAt(since, now, utc),
    until: until && instantAt(until, now, utc),
  };
  if (range.since !== undefined && range.until !== undefined && range.since >= range.until) {
    throw usageError('--since must be before --until', 'swap them');
  }
  return range;
}

/** Parses the patterns of a list or a tail. */
export const readPatterns = (flags: {
  readonly grep: string | undefined;
  readonly exclude: string | undefined;
}) => ({
  grep: flags.grep === undefined ? undefined : readPattern(flags.grep),
  exclude: flags.exclude === undefined ? undefined : readPattern(flags.exclude),
});

/**
 * Rows in the requested order. Sorting and reversing need all rows before the first can be printed; if the list fails
 * halfway, the rows so far are printed first, because they were paid for.
 */
export async function* sortedRows<T extends Readonly<Record<string, unknown>>>(
  rows: AsyncIterable<T>,
  { sort, reverse }: Pick<ListFlags, 'sort' | 'reverse'>,
): AsyncGenerator<T, void, void> {
  if (sort === undefined && !reverse) {
    yield* rows;
    return;
  }
  const all: T[] = [];
  let failure: { readonly error: unknown } | undefined;
  try {
    for await (const row of rows) all.push(row);
  } catch (error) {
    failure = { error };
  }
  yield* sort === undefined ? all.reverse() : sortBy(all, sort, reverse);
  if (failure) throw failure.error;
}
