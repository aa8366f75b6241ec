import * as z from 'zod/mini';
import { once } from '../../base/calls.ts';
import { usageError } from '../../base/failure.ts';
import { oneOf, plainName as plain } from '../../base/values.ts';
import { cu, SOCKET_TOKENS_MAX, THESIS_BLOCK } from '../../contract/limits.ts';
import { ConfluenceRecord } from '../../contract/records/confluence.ts';
import { TailedThesis } from '../../contract/records/thesis.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import { thesisCall } from '../../core/pages/feeds.ts';
import { createFilter, normalToken } from '../../core/pages/filter.ts';
import { highlightOf } from '../../core/pages/pattern-search.ts';
import { confluenceView, liveThesisView, thesisView } from '../../output/views/thesis.ts';
import { thesisConfluence } from '../../tail/confluence.ts';
import type { TailRow } from '../../tail/post-row.ts';
import { arePollsCheaper } from '../../tail/spend/stream-or-poll.ts';
import { conditionsOf, thesisFilterOptions } from '../args/list-flags.ts';
import { excluding, flag, inGroup, list, value, valueOr } from '../args/option.ts';
import { text } from '../args/values.ts';
import { command } from '../command.ts';
import { AuthorNotes } from '../lookup/author-notes.ts';
import { authorOf, planAuthor } from '../lookup/scope.ts';
import { tokenAddresses } from '../lookup/token.ts';
import { approve, isDryRun } from '../run/approve.ts';
import { filtersOf, showingFilters } from '../tail/filters.ts';
import { checkTail, replayArgument, tailOptions, withFiles } from '../tail/flags.ts';
import { notingFeeder } from '../tail/noting-feeder.ts';
import { checkOutput } from '../tail/output/open.ts';
import { tailPlan } from '../tail/plan.ts';
import { openTail } from '../tail/run.ts';
import { runFeed } from '../tail/run-feed.ts';
import { socketOf } from '../tail/socket.ts';
import { thesisFeedName, thesisSource } from '../tail/source.ts';
import page from './thesis-tail.md';

export const thesisTail = command({
  path: 'thesis tail',
  page,
  args: [replayArgument],
  options: {
    ...inGroup('What to read', {
      token: list('--token', 'only theses about this token (address or symbol)', text('token')),
      user: value(
        '--author, --user',
        'only theses by this author (handle or id)',
        text('user', 'handle'),
      ),
      ...thesisFilterOptions,
    }),
    ...inGroup('Cost and delay', {
      via: valueOr('--via', 'how to follow the feed', oneOf('auto', 'ws', 'poll', 'store'), 'auto'),
      fill: flag('--fill', 'ask the service for posts that the store no longer has'),
    }),
    ...inGroup('As a service', {
      group: excluding(
        value('--group', 'with --via store: each post goes to one member of this group', plain),
        '--fill',
        '--checkpoint',
        '--no-follow',
      ),
      shared: flag('--shared', 'with --group: all members read at the same time, unordered'),
    }),
    ...tailOptions,
  },
  common: ['output', 'service', 'money'],
  calls: [
    'ws',
    'thesis.all',
    'thesis.token',
    'thesis.user',
    'thesis.userToken',
    'user.handle',
    'me',
  ],
  record: () => z.union([TailedThesis, ConfluenceRecord]),
  stream: true,
  exits: [0, 2, 3, 4, 5, 6, 7, 9, 11, 129, 130, 143],
  parse(words, given) {
    const { via, group, shared, fill, noFollow } = given;
    if (group !== undefined && via !== 'store')
      throw usageError('--group requires --via store', 'use --via store');
    if (fill && via !== 'store' && via !== 'auto')
      throw usageError(
        `--fill requires --via store or --via auto, not --via ${via}`,
        'use --via store',
      );
    if (noFollow && via === 'ws')
      throw usageError(
        '--no-follow cannot be combined with --via ws',
        'use --via poll or --via store',
      );
    if (shared && group === undefined)
      throw usageError('--shared requires --group', 'add --group NAME');
    return {
      ...withFiles(words, checkTail(given)),
      // Everything up to now is in pages and in the store; the WebSocket only has what comes later.
      via: noFollow && via === 'auto' ? ('poll' as const) : via,
      conditions: conditionsOf(given),
    };
  },
  async run(context, { token, user, conditions, via, fill, group, shared, ...flags }) {
    const tokens = await tokenAddresses(token, context);
    const author = user === undefined ? undefined : await authorOf(user, context.terminal);
    const tokenAddress = tokens.length === 1 ? tokens[0] : undefined;
    const isReplay = flags.replay.length > 0;
    const by = await planAuthor(isReplay ? undefined : author, context);
    // A person who follows everything and gives no --lag wants each post at once.
    const cheapest = flags.isLagGiven || author !== undefined || tokens.length > 0;
    const polls =
      via === 'poll' || (via === 'auto' && cheapest && arePollsCheaper(flags.lag, cu.thesisBlock));
    const shape = {
      durationMs: flags.duration,
      noFollow: flags.noFollow,
      socket: !polls,
      lagMs: flags.lag,
      page: thesisCall({ userId: by.plannedId, tokenAddress }, { limit: THESIS_BLOCK }),
      backfill: flags.backfill,
    };
    const plan = tailPlan(shape, by.calls);
    const isFree = via === 'store' || isReplay;
    if (await isDryRun(context, isFree ? by.calls : plan.calls)) return;
    const posts = {
      ...showingFilters(liveThesisView, conditions, thesisView),
      highlight: highlightOf(conditions.grep),
    };
    const shown = flags.confluence
      ? { view: confluenceView, timeField: 'lastAt', fields: thesisConfluence }
      : { view: posts, timeField: 'platformCreatedAt', fields: thesisConfluence };
    await checkOutput(context, shown, flags);
    const normal = tokens.map(normalToken).sort();
    if (isReplay) {
      const { openReplay } = await import('../replay/replay.ts');
      const filter = createFilter<TailRow>({ tokens, ...conditions });
      const isWanted = (row: TailRow) => filter(row) && (!author || isBy(row, author));
      const files = flags.replay;
      const plan = { ...shown, files, flags, filter: isWanted, postTime: 'platformCreatedAt' };
      await runFeed(context, flags, () => openReplay(context, plan));
      return;
    }
    const isShared = via === 'store' || via === 'auto';
    const stored =
      isShared &&
      (await (await import('../store/choose-feed.ts')).chooseFeed(context, via, normal));
    if (!stored) await approve(plan, context);
    await runFeed(context, flags, async (files) => {
      const userId = await by.userId();
      const filter = createFilter<TailRow>({
        tokens,
        userId,
        ...conditions,
        onTimeout: once((row) =>
          context.terminal.notice(
            `the pattern took too long on post ${row.id}; such posts are printed anyway: use a simpler pattern`,
          ),
        ),
      });
      if (stored && group !== undefined) {
        const { openMember } = await import('../store/follow-group.ts');
        return openMember(context, { ...stored, ...shown, group, shared, flags, filter });
      }
      const feed = thesisFeedName(userId, tokens);
      const plan = { ...shown, flags, feed, filters: filtersOf(conditions) };
      const scope = { userId, tokenAddress };
      if (stored) {
        const { openFollower } = await import('../store/follow.ts');
        const { GapFilling } = await import('../../tail/stored/fill-gap.ts');
        const client = fill ? await context.service.client() : undefined;
        const filling =
          client && new GapFilling(thesisSource(client, scope), client, context.terminal.io.clock);
        return openFollower(context, files, {
          ...stored,
          ...plan,
          filter,
          filling,
          tokens: normal,
        });
      }
      if (via === 'store') throw new Error('--via store did not open a store');
      const client = await context.service.client();
      // With more than fifty tokens, subscribe to all posts and filter them on this machine.
      const byToken = tokens.length > 0 && tokens.length <= SOCKET_TOKENS_MAX;
      const authors = await AuthorNotes.open(context);
      const tail = await openTail(context, files, client, {
        ...plan,
        source: thesisSource(client, scope),
        connect:
          via === 'poll' ? undefined : socketOf(context, client, await context.service.target()),
        options: {
          via,
          cheapest,
          socketShare: context.settings.socketShare,
          subscription: byToken ? { type: 'tokens', tokens } : { type: 'all' },
          // The WebSocket delivers only posts of the subscribed tokens, and a page can be limited to one token at most.
          carries: byToken ? createFilter({ tokens }) : undefined,
          scope: createFilter({ tokens: tokenAddress === undefined ? [] : [tokenAddress], userId }),
          filter(row) {
            authors.saw(row.record);
            return filter(row);
          },
        },
      });
      return notingFeeder(tail, authors, context.terminal.io.clock);
    });
  },
});

/** Whether a post is by this author, without a request for the id of a handle. */
const isBy = ({ record }: TailRow, { type, value }: Subject): boolean =>
  type === 'id'
    ? record['authorId'] === value
    : String(record['authorHandle']).toLowerCase() === value.toLowerCase();
