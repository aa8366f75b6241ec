import { Failure } from '../../base/failure.ts';
import { CALLOUT_PAGE } from '../../contract/limits.ts';
import { numberOf, type Sent } from '../../contract/read-record.ts';
import type { GatheredPosts } from '../../core/pages/gather.ts';
import type { ReadPosts } from '../../core/pages/saved-pages.ts';
import { AuthorPositions } from '../../core/positions/positions.ts';
import { medianOf, summaryOf } from '../../core/positions/summary.ts';
import { authorsOf } from '../../core/positions/token-authors.ts';
import type { Planned } from '../../core/spend/plan.ts';
import { positionsView } from '../../output/views/author.ts';
import { tokenView } from '../../output/views/token.ts';
import type { RangeFlags } from '../args/list-flags.ts';
import { notingAuthors } from '../lookup/author-notes.ts';
import { savingTokens } from '../lookup/token.ts';
import type { Context } from '../run/context.ts';
import { type CommandJob, RowTally } from '../run/job.ts';
import { cardRows } from './card-rows.ts';
import { type CacheFlags, calloutPart, FeedReader, thesisPart } from './feed-reader.ts';
import { inOrderOf } from './list-job.ts';
import { DAY, PostCounter } from './post-counter.ts';

/** What of a token is read. */
interface TokenAsked extends RangeFlags, CacheFlags {
  readonly token: string;
  /** The most theses; undefined if there is no maximum. */
  readonly rows: number | undefined;
  /** Whether the callouts are read to their end. */
  readonly all: boolean;
}

interface TokenShown extends Pick<RangeFlags, 'since'> {
  readonly token: string;
  readonly positions: boolean;
  readonly sort: string | undefined;
  readonly reverse: boolean;
  readonly top: number | undefined;
}

/** What was read about a token. */
interface TokenPosts {
  readonly theses: ReadPosts;
  /** The callouts of the coin; undefined if they were not read. */
  readonly callouts: ReadPosts | undefined;
}

/** Where the posts about a token are read from, with the calls that this needs. */
interface TokenSource {
  readonly calls: readonly Planned[];
  read(): Promise<TokenPosts>;
}

/** Reads the posts about a token from the service. */
export async function servedToken(context: Context, asked: TokenAsked): Promise<TokenSource> {
  const { token, rows, all } = asked;
  const { service, terminal } = context;
  const { signal } = terminal;
  const feeds = await FeedReader.open(context, asked, asked);
  const posts = thesisPart(service, { tokenAddress: token }, rows);
  const calls = calloutPart(service, { mint: token }, all ? undefined : CALLOUT_PAGE);
  const [saved, savedCalls] = [await feeds.plan(posts), await feeds.plan(calls)];
  return {
    calls: [saved.call, savedCalls.call],
    async read() {
      const read = saved.posts ?? (await feeds.read(posts, signal));
      if (read.failure && read.posts.length === 0) throw read.failure.error;
      for await (const _ of notingAuthors(savingTokens(read.posts, context), context));
      if (read.failure) return { theses: read, callouts: undefined };
      const readCalls = savedCalls.posts ?? (await feeds.read(calls, signal));
      const error = readCalls.failure?.error;
      if (!(error instanceof Failure) || error.kind !== 'forbidden')
        return { theses: read, callouts: readCalls };
      terminal.notice(`the callouts were not read: ${error.message}`);
      return { theses: read, callouts: undefined };
    },
  };
}

/** The posts about a token in files, which have no callouts. */
export const recordedToken = (gather: () => Promise<ReadPosts>): TokenSource => ({
  calls: [],
  read: async () => ({ theses: await gather(), callouts: undefined }),
});

/** Who posted about a token, since when, and what became of it. */
export function tokenJob(context: Context, source: TokenSource, shown: TokenShown): CommandJob {
  const { positions, sort, reverse, top } = shown;
  const tally = new RowTally('thesis', 'theses');
  const order = { sort, reverse, best: top };
  const view = tokenView(
    (authors) => cardRows(context.terminal, authors, shown, 'authors'),
    context.terminal.io.clock.now(),
  );
  return {
    plan: {
      calls: source.calls,
      costs: (cost) => `Reading the posts about the token will cost ${cost}`,
      tellsLimit: true,
      stopped: (spent) => ({ message: `stopped after ${spent}; there are more posts` }),
    },
    view: positions ? positionsView() : view,
    tally,
    async print(out) {
      const read = await source.read();
      tally.total = read.theses.posts.length;
      const about = new AuthorPositions(read.theses.posts);
      const failure = read.theses.failure ?? read.callouts?.failure;
      if (positions)
        await out.print(
          positionsView(),
          withFailure(inOrderOf(order, positionsOf(about, read)), failure),
        );
      else
        await out.print(view, withFailure([recordOf(context, shown, about, read)], failure), {
          isSingle: true,
        });
    },
  };
}

async function* positionsOf(
  about: AuthorPositions,
  { theses }: TokenPosts,
): AsyncGenerator<Sent, void, void> {
  for (const position of about.list()) yield { ...position, readAt: theses.readAt };
}

/** What was paid for comes before the failure that ended the reading. */
async function* withFailure<T>(
  rows: Iterable<T> | AsyncIterable<T>,
  failure: GatheredPosts['failure'],
): AsyncGenerator<T, void, void> {
  yield* rows;
  if (failure) throw failure.error;
}

/** What was posted about a token, as one record. */
function recordOf(
  { settings }: Context,
  { token, since }: TokenShown,
  about: AuthorPositions,
  { theses, callouts }: TokenPosts,
): Sent {
  const positions = about.list();
  const { closed, open } = summaryOf(positions);
  const authors = authorsOf(positions);
  const days = new PostCounter(DAY, 'authorId', settings.utc);
  for (const post of theses.posts) days.add(post);
  const { newest } = about;
  return {
    token,
    network: newest['tokenNetwork'] ?? null,
    symbol: newest['tokenSymbol'] ?? null,
    ...about.read,
    complete: theses.complete,
    days: days
      .records()
      .filter(({ day }) => day !== null)
      .map(({ day, posts }) => ({ day, posts }))
      .reverse(),
    authors: authors.filter(({ isDev }) => !isDev),
    devs: authors.filter(({ isDev }) => isDev),
    closed,
    open,
    callouts: callouts ? calloutsOf(callouts) : null,
    // Before the range, others may have posted.
    first: callouts && since === undefined ? firstOf(theses, callouts) : null,
    beside: about.beside,
    ...readingOf(callouts ? [theses, callouts] : [theses]),
  };
}

/** When and where posts were read: figures are as old as the oldest of them. */
function readingOf(parts: readonly ReadPosts[]): Pick<ReadPosts, 'readAt' | 'via'> {
  const times = parts.flatMap(({ readAt }) => readAt ?? []);
  const { via } = parts.find((part) => part.via !== 'cache') ?? { via: 'cache' };
  return { readAt: times.length > 0 ? Math.min(...times) : null, via };
}

function calloutsOf({ posts, complete }: GatheredPosts): Sent {
  const times = posts.flatMap(({ at }) => at ?? []).sort((a, b) => a - b);
  return {
    posts: posts.length,
    from: times[0] ?? null,
    to: times.at(-1) ?? null,
    complete,
    medianMultiple: medianOf(posts.flatMap(({ record }) => numberOf(record['multiple']) ?? [])),
  };
}

/** The oldest post; null if there may be older ones. A post without a time may be the oldest. */
function firstOf(theses: GatheredPosts, callouts: GatheredPosts): Sent | null {
  const posts = [
    ...theses.posts.map((post) => ({ ...post, by: 'thesis' })),
    ...callouts.posts.map((post) => ({ ...post, by: 'callout' })),
  ];
  if (!theses.complete || !callouts.complete) return null;
  if (posts.some(({ at }) => at === null)) return null;
  const [first] = posts.sort((one, other) => (one.at ?? 0) - (other.at ?? 0));
  if (first === undefined) return null;
  const { record, at, by } = first;
  return { author: record['authorHandle'] ?? record['userName'] ?? null, at, by };
}
