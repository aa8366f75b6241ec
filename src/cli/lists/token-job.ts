import { Failure } from '../../base/failure.ts';
import { CALLOUT_PAGE, cu, THESIS_BLOCK } from '../../contract/limits.ts';
import { numberOf, type Sent } from '../../contract/read-record.ts';
import { calloutCall, calloutFeed, thesisCall, thesisFeed } from '../../core/pages/feeds.ts';
import { type GatheredPosts, gatherPosts } from '../../core/pages/gather.ts';
import { postTimeOf, usableTime } from '../../core/pages/post.ts';
import { AuthorPositions } from '../../core/positions/positions.ts';
import { medianOf, summaryOf } from '../../core/positions/summary.ts';
import { authorsOf } from '../../core/positions/token-authors.ts';
import { positionsView } from '../../output/views/author.ts';
import { tokenView } from '../../output/views/token.ts';
import { type RangeFlags, readRange } from '../args/list-flags.ts';
import { notingAuthors } from '../lookup/author-notes.ts';
import { serviceClock } from '../lookup/service-time.ts';
import { savingTokens } from '../lookup/token.ts';
import type { Context } from '../run/context.ts';
import { type CommandJob, RowTally } from '../run/job.ts';
import { cardRows } from './card-rows.ts';
import { inOrderOf } from './list-job.ts';
import { DAY, PostCounter } from './post-counter.ts';
import type { ReadTheses } from './recorded-theses.ts';

interface TokenInput extends RangeFlags {
  readonly token: string;
  /** The most theses; undefined if there is no maximum. */
  readonly rows: number | undefined;
  readonly all: boolean;
  readonly positions: boolean;
  readonly sort: string | undefined;
  readonly reverse: boolean;
  readonly top: number | undefined;
  /** Reads the theses of files; undefined to read those of the service. */
  readonly recorded: (() => Promise<ReadTheses>) | undefined;
}

/** What was read about a token. */
interface TokenPosts {
  readonly theses: ReadTheses;
  /** The callouts of the coin; undefined if they were not read. */
  readonly callouts: GatheredPosts | undefined;
}

/** Who posted about a token, since when, and what became of it. */
export function tokenJob(context: Context, input: TokenInput): CommandJob {
  const { token: tokenAddress, rows, all, positions, sort, reverse, top } = input;
  const tally = new RowTally('thesis', 'theses');
  const order = { sort, reverse, best: top };
  const theses = {
    ...thesisCall({ tokenAddress }, { limit: Math.min(rows ?? THESIS_BLOCK, THESIS_BLOCK) }),
    times: rows === undefined ? null : Math.ceil(rows / THESIS_BLOCK),
    least: cu.thesisBlock,
  };
  const callouts = {
    ...calloutCall({ mint: tokenAddress }, {}),
    times: all ? null : 1,
    least: cu.launchpad,
  };
  const view = tokenView((authors) => cardRows(context.terminal, authors, input, 'authors'));
  return {
    plan: {
      calls: input.recorded ? [] : [theses, callouts],
      costs: (cost) => `Reading the posts about the token will cost ${cost}`,
      tellsLimit: rows === undefined,
      stopped: (spent) => ({ message: `stopped after ${spent}; there are more posts` }),
    },
    view: positions ? positionsView() : view,
    tally,
    async print(out) {
      const read = await readPosts(context, input);
      tally.total = read.theses.posts.length;
      const now = context.terminal.io.clock.now();
      const about = new AuthorPositions(now, read.theses.posts);
      const failure = read.theses.failure ?? read.callouts?.failure;
      if (positions)
        await out.print(
          positionsView(),
          withFailure(inOrderOf(order, positionsOf(about, read)), failure),
        );
      else
        await out.print(view, withFailure([recordOf(context, input, about, read)], failure), {
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

async function readPosts(context: Context, input: TokenInput): Promise<TokenPosts> {
  const { token, rows, all, recorded } = input;
  if (recorded) return { theses: await recorded(), callouts: undefined };
  const { terminal, settings, service } = context;
  const isTimed = input.since !== undefined || input.until !== undefined;
  const clock = isTimed ? await serviceClock(context) : terminal.io.clock;
  const walk = { ...readRange(input, clock.now(), settings.utc), clock, signal: terminal.signal };
  const client = await service.client();
  const read = await gatherPosts(thesisFeed(client, { tokenAddress: token }), {
    ...walk,
    limit: rows,
  });
  if (read.failure && read.posts.length === 0) throw read.failure.error;
  for await (const _ of notingAuthors(savingTokens(read.posts, context), context));
  const theses = { ...read, readAt: terminal.io.clock.now(), via: 'service' as const };
  if (read.failure) return { theses, callouts: undefined };
  const callouts = await gatherPosts(calloutFeed(client, { mint: token }), {
    ...walk,
    limit: all ? undefined : CALLOUT_PAGE,
  });
  const error = callouts.failure?.error;
  if (!(error instanceof Failure) || error.kind !== 'forbidden') return { theses, callouts };
  terminal.notice(`the callouts were not read: ${error.message}`);
  return { theses, callouts: undefined };
}

/** What was posted about a token, as one record. */
function recordOf(
  { terminal, settings }: Context,
  { token }: TokenInput,
  about: AuthorPositions,
  { theses, callouts }: TokenPosts,
): Sent {
  const { now } = terminal.io.clock;
  const positions = about.list();
  const { closed, open } = summaryOf(positions);
  const authors = authorsOf(positions);
  const days = new PostCounter(
    DAY,
    { authorField: 'authorId', timeField: 'platformCreatedAt' },
    settings.utc,
    now,
  );
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
    callouts: callouts ? calloutsOf(callouts, now()) : null,
    first: callouts ? firstOf(theses, callouts, now()) : null,
    beside: about.beside,
    readAt: theses.readAt,
    via: theses.via,
  };
}

function calloutsOf({ posts, complete }: GatheredPosts, now: number): Sent {
  const times = posts.flatMap((post) => timeOf(post, now) ?? []).sort((a, b) => a - b);
  return {
    posts: posts.length,
    from: times[0] ?? null,
    to: times.at(-1) ?? null,
    complete,
    medianMultiple: medianOf(posts.flatMap(({ multiple }) => numberOf(multiple) ?? [])),
  };
}

/** The time of a thesis or a callout. */
const timeOf = (post: Sent, now: number): number | null =>
  usableTime(postTimeOf(post['platformCreatedAt'] ?? post['createdAt']), now);

/** The oldest post; null if there may be older ones. A post without a time may be the oldest. */
function firstOf(theses: GatheredPosts, callouts: GatheredPosts, now: number): Sent | null {
  const posts = [...theses.posts, ...callouts.posts];
  if (!theses.complete || !callouts.complete) return null;
  if (posts.some((post) => timeOf(post, now) === null)) return null;
  const [first] = posts.sort((one, other) => (timeOf(one, now) ?? 0) - (timeOf(other, now) ?? 0));
  if (first === undefined) return null;
  const by = 'platformCreatedAt' in first ? 'thesis' : 'callout';
  return { author: first['authorHandle'] ?? first['userName'] ?? null, at: timeOf(first, now), by };
}
