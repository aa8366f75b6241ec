import { usageError } from '../../base/failure.ts';
import { plainName as plain } from '../../base/values.ts';
import { SOCKET_TOKENS_MAX, THESIS_BLOCK } from '../../contract/limits.ts';
import { cu } from '../../contract/prices.ts';
import { ThesisFrameData } from '../../contract/records/thesis.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import { thesisCall } from '../../core/pages/feeds.ts';
import { createFilter, normalToken } from '../../core/pages/filter.ts';
import { highlightOf } from '../../core/pages/pattern-search.ts';
import { liveThesisView } from '../../output/views/thesis.ts';
import type { TailRow } from '../../tail/row.ts';
import { addressOf } from '../args/address.ts';
import { filterOptions, readPatterns } from '../args/list-flags.ts';
import { flag, list, value, valueOr } from '../args/option.ts';
import { decimal, oneOf, text } from '../args/values.ts';
import { command } from '../command.ts';
import type { Context, Planned } from '../context.ts';
import { authorOf, plannedAuthor, userIdOf } from '../lookup/thesis-scope.ts';
import { approveTail } from '../spend/approve-tail.ts';
import { plannedTail, type TailShape } from '../spend/tail-cost.ts';
import { checkOutput } from '../tail/check-output.ts';
import { checkTail, tailOptions } from '../tail/flags.ts';
import { runTail } from '../tail/run.ts';
import { socketOf } from '../tail/socket.ts';
import { thesisSource } from '../tail/source.ts';
import { onceInBudget } from '../tail/wait-for-budget.ts';

export const thesisTail = command({
  path: 'thesis tail',
  summary: 'Stream theses as they are posted, each exactly once',
  about: [
    'Streams over WebSocket (20,000 CU/min), with polls that fill every gap, or polls only (200 CU each). "auto" starts with the WebSocket and falls back to polling when the key has no live feed, when the WebSocket has used its share of the remaining units (setting socketShare, 10%), or when the spending limit does not cover another minute.',
    'With a budget (see "trdr budget set"), "auto" streams if the budget covers it until it renews, and otherwise polls at an interval with which the budget lasts. At the end of a budget the run exits 6; with --wait-for-budget it sleeps until the budget renews and continues.',
    'Every thesis posted between start and end is printed exactly once, oldest first within a fill. A gap that cannot be filled is reported with its start and end. On a terminal, the last 10 theses of the page that is read anyway come first, unless --count is given.',
    '--out appends to the file and, after any crash, continues from its end: no line is lost, torn or doubled. If the file is renamed, replaced or deleted meanwhile, the tail continues in a new one, at once after SIGUSR2. --rotate begins a new file at a size or at multiples of a duration in UTC, and names the finished ones by their first post. --checkpoint resumes a pipe: if trdr is killed, rows written since the last checkpoint can be repeated. It cannot know what the reader of the pipe had processed: rows in the pipe are lost if the reader dies.',
    '--exec CMD runs CMD for each batch of posts, as NDJSON on its stdin. Exit code 0 acknowledges the batch; otherwise it is retried in order, and after --tries attempts moved to a dead-letter file beside the checkpoint. With --checkpoint every post is handed over at least once, and after a crash only the batch that was not acknowledged is repeated. CMD is not run in a shell unless --shell is given.',
    'A run that ends while posts may be missing (a gap, or a service that fails until the end) exits 9. The last line states up to when the feed is complete.',
    '"--via store" reads what a relay publishes (see "trdr thesis relay") for 0 CU; "auto" does so while a relay leads this feed.',
    '--status keeps the state in a file for Prometheus and for "trdr tail status"; if NOTIFY_SOCKET is set, systemd is notified (READY, STATUS, WATCHDOG, STOPPING). Off a terminal, lines on stderr carry the time.',
    'Without --duration, a tail has no known end: it starts at once and may spend confirmAbove (100,000 CU), or what --max-cu allows; --yes removes the limit. At the limit it asks on a terminal; otherwise it exits 6 and prints the command that continues it. With --duration the cost is known: if it exceeds confirmAbove, it is confirmed first.',
  ],
  args: [],
  options: {
    token: list('--token', 'only theses about this token', text('address')),
    user: value('--user', 'only theses by this author (handle or user id)', text('user', 'handle')),
    ...filterOptions,
    minHoldings: value(
      '--min-holdings',
      "minimum value of the author's position in USD",
      decimal({ min: 0 }),
    ),
    devOnly: flag('--dev-only', "only theses by the token's own dev"),
    via: valueOr('--via', 'how to follow the feed', oneOf('auto', 'ws', 'poll', 'store'), 'auto'),
    group: value('--group', 'with --via store: share the posts among the members of this group', plain),
    shared: flag('--shared', 'with --group: all members read at once, in any order'),
    fill: flag('--fill', 'fetch posts from the service that the store no longer has'),
    ...tailOptions,
  },
  common: ['output', 'service', 'money'],
  examples: [
    { run: 'trdr thesis tail --duration 10m', does: 'watch for ten minutes' },
    {
      run: 'trdr thesis tail --via poll --lag 30s --out theses.ndjson --max-cu 600k',
      does: 'record to a file for about a day, at 400 CU/min',
    },
    {
      run: "trdr thesis tail --max-cu 1M | jq -r 'select(.authorTradeUsd > 1000) | .thesis'",
      does: 'filter the feed in a pipe',
    },
    {
      run: "trdr thesis tail --checkpoint tail.json --batch 1 --exec './notify' --max-cu 5M",
      does: 'run a command for each post, again until it succeeds',
    },
    { run: 'trdr thesis tail --user mira --grep "sold|out" --yes', does: 'one author, matching words' },
  ],
  calls: ['ws', 'thesis.all', 'thesis.token', 'thesis.user', 'thesis.userToken', 'user.handle', 'me'],
  record: () => ThesisFrameData,
  stream: true,
  exits: [0, 2, 3, 4, 5, 6, 7, 9, 11, 129, 130, 143],
  parse: (_, given) => ({
    ...checkTail(checkGroup(given)),
    patterns: readPatterns(given),
  }),
  async run(
    context,
    { token, user, symbol, minHoldings, devOnly, patterns, via, fill, group, shared, ...flags },
  ) {
    const tokens = [...new Set(await Promise.all(token.map((each) => addressOf('--token', each))))];
    const author = user === undefined ? undefined : await authorOf(user);
    const tokenAddress = tokens.length === 1 ? tokens[0] : undefined;
    const shape = {
      durationMs: flags.duration,
      socket: via !== 'poll',
      lagMs: flags.lag,
      page: cu.thesisBlock,
      backfill: flags.backfill,
    };
    if (await context.dryRun(via === 'store' ? [] : plan(shape, author, tokenAddress))) return 0;
    const view = { ...liveThesisView, highlight: highlightOf(patterns.grep) };
    const shown = { view, timeField: 'platformCreatedAt' };
    await checkOutput(context, shown, flags);
    const normal = tokens.map(normalToken).sort();
    const stored = await storedFeed(context, via, normal);
    const authorId = async () =>
      author && (await onceInBudget(context, flags, () => userIdOf(author, context)));
    const wanted = (userId: string | undefined) =>
      createFilter<TailRow>({
        tokens,
        userId,
        symbols: symbol,
        minHoldings,
        devOnly,
        ...patterns,
        endless: once((row) =>
          context.notice(
            `a pattern did not finish on ${row.id}; such posts are printed: use a simpler pattern`,
          ),
        ),
      });
    if (stored) {
      if (flags.rotate !== undefined)
        throw usageError('--rotate does not work with posts from the store', 'add --via ws or --via poll');
      if (group !== undefined) {
        const { followAsMember } = await import('../store/follow-group.ts');
        const userId = await authorId();
        await followAsMember(context, { ...stored, ...shown, group, shared, flags, filter: wanted(userId) });
        return 0;
      }
      const { followStore } = await import('../store/follow.ts');
      const { fillFrom } = await import('../store/fill-gap.ts');
      const userId = await authorId();
      const filling = fill
        ? fillFrom(thesisSource(await context.client(), { userId, tokenAddress }))
        : undefined;
      await followStore(context, { ...stored, ...shown, flags, filter: wanted(userId), fill: filling });
      return 0;
    }
    if (via === 'store') throw new Error('a store was needed');
    await approveTail(context, shape);
    const userId = await authorId();
    const client = await context.client();
    // Above fifty tokens, the connection carries all posts and they are filtered here.
    const byToken = tokens.length > 0 && tokens.length <= SOCKET_TOKENS_MAX;
    await runTail(context, client, {
      ...shown,
      flags,
      source: thesisSource(client, { userId, tokenAddress }),
      connect: via === 'poll' ? undefined : socketOf(context, await context.target()),
      options: {
        via,
        socketShare: context.settings.socketShare,
        feed: ['thesis', userId ?? '', normal.join(',')].join(' ').trim(),
        subscription: byToken ? { type: 'tokens', tokens } : { type: 'all' },
        // Pages are of one token or of all, but the WebSocket only carries the subscribed tokens.
        carries: byToken ? createFilter({ tokens }) : undefined,
        scope: createFilter({ tokens: tokenAddress === undefined ? [] : [tokenAddress], userId }),
        filter: wanted(userId),
      },
    });
    return 0;
  },
});

/** Checks flags that require the store, before any request. */
function checkGroup<
  F extends {
    via: string;
    group: string | undefined;
    shared: boolean;
    fill: boolean;
    checkpoint: string | undefined;
  },
>(flags: F): F {
  const { via, group, shared, fill, checkpoint } = flags;
  if (group !== undefined && via !== 'store')
    throw usageError('--group requires --via store', 'add --via store');
  if (shared && group === undefined) throw usageError('--shared requires --group', 'name a group');
  if (group !== undefined && (fill || checkpoint !== undefined)) {
    throw usageError(
      '--group cannot be combined with --fill or --checkpoint',
      'the store saves the position of a group',
    );
  }
  return flags;
}

/** The feed to read from the store; undefined to read from the service. */
async function storedFeed(context: Context, via: string, tokens: readonly string[]) {
  if (via === 'store') {
    const { needStore } = await import('../store/need-store.ts');
    const { chooseFeed } = await import('../store/choose-feed.ts');
    return chooseFeed(context, await needStore(context), tokens);
  }
  const { store } = context.settings;
  if (via !== 'auto' || store === undefined || store === 'off') return undefined;
  const { liveFeed } = await import('../store/choose-feed.ts');
  return liveFeed(context, tokens);
}

/** Calls `report` for the first value only, for notices that may repeat a thousand times. */
function once<T>(report: (value: T) => void): (value: T) => void {
  let isReported = false;
  return (value) => {
    if (!isReported) report(value);
    isReported = true;
  };
}

function plan(shape: TailShape, author: Subject | undefined, tokenAddress: string | undefined): Planned[] {
  const { lookup, userId } = plannedAuthor(author);
  const page = thesisCall({ userId, tokenAddress }, { limit: THESIS_BLOCK });
  return [...lookup, { id: 'me', ask: {} }, ...plannedTail(shape, page)];
}
