import { Failure } from '../../base/failure.ts';
import { textOf } from '../../base/json-object.ts';
import type { Sent } from '../../contract/read-record.ts';
import type { TokenRecord } from '../../contract/records/position.ts';
import { multiplesNow } from '../../core/callers.ts';
import type { PageRow } from '../../core/pages/post.ts';
import type { ReadPosts } from '../../core/pages/saved-pages.ts';
import { type PositionPost, positionsOf, stretchOf } from '../../core/positions/positions.ts';
import { summaryOf } from '../../core/positions/summary.ts';
import { authorsOf } from '../../core/positions/token-authors.ts';
import { dayText } from '../../output/format/time.ts';
import { positionsView } from '../../output/views/author.ts';
import { tokenView } from '../../output/views/token.ts';
import type { RangeFlags } from '../args/list-flags.ts';
import type { Context } from '../run/context.ts';
import { type CommandJob, RowTally } from '../run/job.ts';
import type { PlannedPosts } from './feed-reader.ts';
import { inOrderOf, type RowOrder, rowsBelowCard, withFailure } from './row-order.ts';

/** The posts about a token that a run will read. */
export interface TokenPosts {
  readonly theses: PlannedPosts<PositionPost>;
  /** The callouts of the coin; files have none. */
  readonly callouts: PlannedPosts<PageRow> | undefined;
}

interface TokenShown extends Pick<RangeFlags, 'since'>, RowOrder {
  readonly token: string;
  readonly positions: boolean;
}

/** Who posted about a token, since when, and what became of it. */
export function tokenJob(context: Context, posts: TokenPosts, shown: TokenShown): CommandJob {
  const { terminal } = context;
  const tally = new RowTally('thesis', 'theses');
  const shownOf = (authors: readonly Sent[]) => rowsBelowCard(terminal, authors, shown, 'authors');
  const view = tokenView(shownOf, terminal.io.clock.now());
  return {
    plan: {
      calls: [...posts.theses.calls, ...(posts.callouts?.calls ?? [])],
      costs: (cost) => `Reading the posts about the token will cost ${cost}`,
      tellsLimit: true,
      stopped: (spent) => ({ message: `stopped after ${spent}; there are more posts` }),
    },
    view: shown.positions ? positionsView() : view,
    tally,
    async print(out) {
      const theses = await posts.theses.read(terminal.signal);
      const { failure } = theses;
      if (failure && theses.posts.length === 0) throw failure.error;
      tally.total = theses.posts.length;
      const callouts = failure ? undefined : await readCallouts(context, posts.callouts);
      const incomplete = failure ?? callouts?.failure;
      if (shown.positions) {
        const rows = inOrderOf(shown, withFailure(positionRows(theses), incomplete?.error));
        await out.print(positionsView(), rows);
      } else {
        const record = recordOf(context, shown, theses, callouts);
        await out.print(view, withFailure([record], incomplete?.error), { isSingle: true });
      }
    },
  };
}

/** The callouts, unless the key may not read them. */
async function readCallouts(
  { terminal }: Context,
  callouts: TokenPosts['callouts'],
): Promise<ReadPosts<PageRow> | undefined> {
  const read = await callouts?.read(terminal.signal);
  const error = read?.failure?.error;
  if (!(error instanceof Failure) || error.kind !== 'forbidden') return read;
  terminal.notice(`the callouts were not read: ${error.message}`);
  return undefined;
}

function* positionRows({ posts, readAt }: ReadPosts<PositionPost>): Generator<Sent, void, void> {
  for (const position of positionsOf(posts).positions) yield { ...position, readAt };
}

/** What was posted about a token, as one record. */
function recordOf(
  { settings }: Context,
  { token, since }: TokenShown,
  theses: ReadPosts<PositionPost>,
  callouts: ReadPosts<PageRow> | undefined,
): TokenRecord {
  const { read, newest, beside, positions } = positionsOf(theses.posts);
  const { closed, open } = summaryOf(positions);
  const authors = authorsOf(positions);
  return {
    token,
    network: newest?.network ?? null,
    symbol: newest?.symbol ?? null,
    ...read,
    complete: theses.complete,
    days: daysOf(theses.posts, settings.utc),
    authors: authors.filter(({ isDev }) => !isDev),
    devs: authors.filter(({ isDev }) => isDev),
    closed,
    open,
    callouts: callouts ? calloutsOf(callouts) : null,
    // Before the range, others may have posted.
    first: callouts && since === undefined ? firstOf(theses, callouts) : null,
    beside,
    ...readingOf(callouts ? [theses, callouts] : [theses]),
  };
}

/** The posts of each day that has some, oldest first. */
function daysOf(posts: readonly PositionPost[], utc: boolean) {
  const counts = new Map<string, number>();
  for (const { at } of posts) {
    if (at === null) continue;
    const day = dayText(at, utc);
    counts.set(day, (counts.get(day) ?? 0) + 1);
  }
  return [...counts].sort().map(([day, posts]) => ({ day, posts }));
}

type Reading = Pick<ReadPosts<unknown>, 'readAt' | 'via'>;

/** When and where posts were read: figures are as old as the oldest of them. */
function readingOf(parts: readonly Reading[]): Reading {
  const times = parts.flatMap(({ readAt }) => readAt ?? []);
  const { via } = parts.find((part) => part.via !== 'cache') ?? { via: 'cache' };
  return { readAt: times.length > 0 ? Math.min(...times) : null, via };
}

const calloutsOf = ({ posts, complete }: ReadPosts<PageRow>) => ({
  posts: posts.length,
  ...stretchOf(posts),
  complete,
  ...multiplesNow(posts),
});

/** The oldest post; null if there may be older ones. A post without a time may be the oldest. */
function firstOf(
  theses: ReadPosts<PositionPost>,
  callouts: ReadPosts<PageRow>,
): TokenRecord['first'] {
  if (!theses.complete || !callouts.complete) return null;
  let first: TokenRecord['first'] = null;
  // Of posts at the same time, the lower one in its feed came first.
  for (const { at, author, by } of [
    ...theses.posts.map(thesisBy).reverse(),
    ...callouts.posts.map(calloutBy).reverse(),
  ]) {
    if (at === null) return null;
    if (first === null || at < first.at) first = { author, at, by };
  }
  return first;
}

const thesisBy = ({ at, authorHandle: author }: PositionPost) =>
  ({ at, author, by: 'thesis' }) as const;
const calloutBy = ({ at, record: { userName, wallet } }: PageRow) =>
  ({ at, author: textOf(userName) || textOf(wallet) || null, by: 'callout' }) as const;
