import { decimal, integer } from '../../base/amounts.ts';
import { usageError } from '../../base/failure.ts';
import { didYouMean } from '../../base/suggest.ts';
import { instantAt, time } from '../../base/times.ts';
import { oneOf } from '../../base/values.ts';
import { type Conditions, readPattern } from '../../core/pages/filter.ts';
import { excluding, flag, type GivenFlags, list, value } from './option.ts';
import { file, text, type Value } from './values.ts';

const DEFAULT_ROWS = 20;
const listed = (name: string, hint: string): Value<string> => ({
  ...text(name),
  hint,
  read: (typed) => (typed === '' || typed.includes(';') ? undefined : typed),
});

const symbol = listed('symbol', 'separate symbols by commas: --symbol SPUD,KOALA');
const network = listed('network', 'separate chains by commas: --network sol,base');

export const filterOptions = {
  symbol: list('--symbol', 'only posts about tokens with this symbol', symbol),
  network: list('--network', 'only posts about tokens on this chain, such as sol', network),
  grep: value(
    '--grep',
    'only posts that match; a lower-case pattern ignores case',
    text('pattern'),
  ),
  exclude: value('--exclude', 'only posts that do not match this pattern', text('pattern')),
};

export const thesisFilterOptions = {
  ...filterOptions,
  minHoldings: value(
    '--min-holdings',
    "minimum value of the author's position in USD",
    decimal({ min: 0 }),
  ),
  minTrade: value(
    '--min-trade',
    'minimum size of the trade behind the thesis in USD',
    decimal({ min: 0 }),
  ),
  minLikes: value('--min-likes', 'minimum number of likes', integer({ min: 0 })),
  devOnly: flag('--dev-only', 'only theses by the developer of the token'),
  open: flag('--open', 'only theses whose position is still open'),
  closed: excluding(flag('--closed', 'only theses whose position was closed'), '--open'),
};

export const listOptions = {
  limit: value(
    '--top, --limit',
    'maximum number of results',
    integer({ min: 1 }),
    `${DEFAULT_ROWS}; unlimited with --since`,
  ),
  all: flag('--all', 'no limit on the number of results'),
  since: value('--since', 'only posts since this time', time),
  until: value('--until', 'only posts before this time', time),
  sort: value('--sort', 'sort by this field: numbers descending, text ascending', text('field')),
  reverse: flag('--reverse', 'reverse the order'),
  before: value('--before', 'only posts older than the one with this id', text('id')),
};

/** The files that are read in place of the service. */
export const fromOption = list(
  '--from',
  'read recorded theses in place of the service, for 0 CU (- for stdin)',
  file,
);

/** So many posts are summed up by default: a page of the largest size. */
const SUMMED_POSTS = 100;

/** The flags that choose the posts of a summary; `posts` says what --limit counts. */
export const summedOptions = (posts: string) => ({
  limit: value(
    '--limit',
    `read at most N ${posts}`,
    integer({ min: 1 }),
    `${SUMMED_POSTS}; unlimited with --since or --from`,
  ),
  all: excluding(listOptions.all, '--limit'),
  since: listOptions.since,
  until: listOptions.until,
});

/** How many posts are summed up at most. All that was recorded is a range. */
export const summedPosts = (
  { limit, all, since }: Pick<ListFlags, 'limit' | 'all' | 'since'>,
  isRecorded: boolean,
): number | undefined =>
  limit ?? (all || since !== undefined || isRecorded ? undefined : SUMMED_POSTS);

/** The flags for the order of what is summed up, and for files in place of the service. */
export const shownOptions = {
  sort: listOptions.sort,
  reverse: listOptions.reverse,
  top: value('--top', 'show only the first N authors or positions', integer({ min: 1 })),
  from: excluding(fromOption, '--max-age', '--no-cache'),
};

/** A shell may expand the value of --from to several words. */
export const fromArgument = {
  name: 'file',
  help: 'with --from: further files',
  optional: true,
  variadic: true,
  complete: 'file',
} as const;

/** Whether a word is a further file of --from: with other arguments, only its name can tell. */
export const isRecordedFile = (word: string): boolean =>
  /\.(?:ndjson|jsonl|json)(?:\.gz)?$/i.test(word);

/** The flag that counts posts in place of listing them; `fields` are those of the posts. */
export const countByOption = (...fields: readonly string[]) =>
  value('--count-by', 'print a count of posts and authors for each value', oneOf(...fields));

type ListFlags = GivenFlags<typeof listOptions> & { readonly countBy: string | undefined };
type FilterFlags = GivenFlags<typeof thesisFilterOptions>;
/** The flags of lists of callouts are some of those of theses. */
type GivenFilters = GivenFlags<typeof filterOptions> & Partial<FilterFlags>;
/** The conditions of filter flags; a flag without a condition of its name does not compile. */
export type FilterConditions = {
  readonly [K in keyof FilterFlags]: K extends keyof Conditions ? Conditions[K] : never;
};

/** The flags of a list, with the maximum number of rows; undefined if there is no maximum. */
export type ListInput = ListFlags & {
  readonly conditions: FilterConditions;
  readonly rows: number | undefined;
  /**
   * The number of records to print of what is sorted or counted. The newest posts are not the best
   * ones, and a limit of posts would make the counts wrong.
   */
  readonly best: number | undefined;
  /** Whether the limit is that of agents, which the line did not state. */
  readonly isForAgent?: boolean;
};

/**
 * Checks the flags of a list. `fields` are the names that --sort accepts. All that was recorded is
 * a range, because reading it costs nothing.
 */
export function readListFlags<F extends ListFlags & GivenFilters>(
  flags: F,
  fields: readonly string[],
  isRecorded = false,
) {
  const { limit, all, since, until, sort, countBy } = flags;
  const isCounting = countBy !== undefined;
  if (all && limit !== undefined && sort === undefined && !isCounting) {
    throw usageError(
      '--all and --limit cannot be combined',
      'omit one of them, or add --sort FIELD to print the best of all',
    );
  }
  checkSort(sort, isCounting ? [countBy, 'posts', 'authors'] : fields);
  const rows = limit ?? (all || since !== undefined ? undefined : DEFAULT_ROWS);
  const isRange = isRecorded || all || since !== undefined || until !== undefined;
  const isWhole = isRange && (sort !== undefined || isCounting);
  const best = isWhole ? rows : undefined;
  const newest = isCounting ? DEFAULT_ROWS : rows;
  return {
    ...flags,
    conditions: conditionsOf(flags),
    rows: isWhole ? undefined : newest,
    best: isCounting ? limit : best,
  };
}

export function checkSort(sort: string | undefined, fields: readonly string[]): void {
  if (sort === undefined || fields.includes(sort)) return;
  const names = fields.filter((name) => !name.includes('.'));
  throw usageError(
    `unknown field "${sort}" for --sort`,
    didYouMean(sort, names) || `choose from ${names.join(', ')}`,
  );
}

export type RangeFlags = Pick<ListFlags, 'since' | 'until'>;

export function readRange({ since, until }: RangeFlags, now: number, utc: boolean) {
  const range = {
    since: since && instantAt(since, now, utc),
    until: until && instantAt(until, now, utc),
  };
  if (range.since !== undefined && range.until !== undefined && range.since >= range.until) {
    throw usageError(
      '--since must be earlier than --until',
      'pass an earlier time to --since, or a later one to --until',
    );
  }
  return range;
}

export const conditionsOf = ({ grep, exclude, ...flags }: GivenFilters): FilterConditions => ({
  symbol: flags.symbol,
  network: flags.network,
  minHoldings: flags.minHoldings,
  minTrade: flags.minTrade,
  minLikes: flags.minLikes,
  devOnly: flags.devOnly,
  open: flags.open,
  closed: flags.closed,
  grep: grep === undefined ? undefined : readPattern(grep),
  exclude: exclude === undefined ? undefined : readPattern(exclude),
});
