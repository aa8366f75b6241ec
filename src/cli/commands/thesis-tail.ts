import * as z from 'zod/mini';
import { once } from '../../base/calls.ts';
import { usageError } from '../../base/failure.ts';
import { oneOf, plainName as plain } from '../../base/values.ts';
import { cu, SOCKET_TOKENS_MAX, THESIS_BLOCK } from '../../contract/limits.ts';
import { ConfluenceRecord } from '../../contract/records/confluence.ts';
import { TailedThesis } from '../../contract/records/thesis.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import { type ThesisScope, thesisCall, thesisScopes } from '../../core/pages/feeds.ts';
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
import { authorOptions, authorsOf, byId, planAuthorLookup, thesisCalls } from '../lookup/scope.ts';
import { tokenAddresses } from '../lookup/token.ts';
import { approve, isDryRun } from '../run/approve.ts';
import { filtersOf, severalText, showingFilters } from '../tail/filters.ts';
import { checkTail, replayArgument, tailOptions, withFiles } from '../tail/flags.ts';
import { notingFeeder, notingFilter } from '../tail/noting-feeder.ts';
import { checkOutput } from '../tail/output/open-output.ts';
import { tailPlan } from '../tail/plan.ts';
import { openTail } from '../tail/run.ts';
import { runFeed } from '../tail/run-feed.ts';
import { feedWords } from '../tail/run-note.ts';
import { socketOf } from '../tail/socket.ts';
import { sourceOf, thesisFeedName, thesisSource } from '../tail/source.ts';
import page from './thesis-tail.md';

export const thesisTail = command({
  path: 'thesis tail',
  page,
  args: [replayArgument],
  options: {
    ...inGroup('What to read', {
      token: list('--token', 'only theses about this token (address or symbol)', text('token')),
      ...authorOptions,
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
  mostUsed: [
    'token',
    'user',
    'symbol',
    'grep',
    'minHoldings',
    'since',
    'count',
    'duration',
    'noFollow',
    'via',
    'lag',
    'exec',
    'confluence',
    'waitForBudget',
  ],
  common: ['output', 'service', 'money'],
  calls: ['ws', ...thesisCalls, 'me'],
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
  // biome-ignore lint/complexity/noExcessiveLinesPerFunction: its ways to follow a feed share one plan.
  async run(
    context,
    { token, user, users, column, conditions, via, fill, group, shared, ...flags },
  ) {
    const tokens = await tokenAddresses(token, context);
    const isReplay = flags.replay.length > 0;
    const authors = await authorsOf({ user, users, column }, context, !isReplay);
    const by = await planAuthorLookup(
      isReplay ? authors.filter(isNoHandle) : authors,
      byId,
      context,
    );
    const planned = thesisScopes(by.planned, tokens);
    // A person who follows everything and gives no --lag wants each post at once.
    const cheapest = flags.isLagGiven || authors.length > 0 || tokens.length > 0;
    const polls =
      via === 'poll' || (via === 'auto' && cheapest && arePollsCheaper(flags.lag, cu.thesisBlock));
    const shape = {
      durationMs: flags.duration,
      noFollow: flags.noFollow,
      socket: !polls,
      lagMs: flags.lag,
      page: thesisCall(onlyOf(planned), { limit: THESIS_BLOCK }),
      ownPage:
        planned.length > 1 ? thesisCall(planned[0] ?? {}, { limit: THESIS_BLOCK }) : undefined,
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
      const isAuthor = authors.length === 0 ? undefined : isByOne(authors, by.kept());
      const isWanted = (row: TailRow) => filter(row) && (isAuthor?.(row) ?? true);
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
    const words = feedWords(
      'theses',
      authors.map((author) => author.text),
      token,
    );
    await runFeed(context, { ...flags, feed: words }, async (files) => {
      const ids = await by.find();
      const scopes = thesisScopes(ids, tokens);
      const scope = onlyOf(scopes);
      const isSeveral = authors.length > 1 || users !== undefined;
      const filter = createFilter<TailRow>({
        tokens,
        users: ids,
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
      const plan = {
        ...shown,
        flags,
        feed: thesisFeedName(isSeveral ? undefined : ids[0], tokens),
        filters: filtersOf(conditions, { users: isSeveral ? ids : [] }),
      };
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
      const notes = await AuthorNotes.open(context);
      const tail = await openTail(context, files, client, {
        ...plan,
        source: sourceOf(
          scopes,
          (each = {}) => thesisSource(client, each),
          context.terminal.io.clock.now,
        ),
        what: severalText(scopes.length, scopes[0]?.userId === undefined ? 'token' : 'author'),
        connect:
          via === 'poll' ? undefined : socketOf(context, client, await context.service.target()),
        options: {
          via,
          cheapest,
          socketShare: context.settings.socketShare,
          subscription: byToken ? { type: 'tokens', tokens } : { type: 'all' },
          // The WebSocket delivers only posts of the subscribed tokens, and a page can be limited
          // to one token at most.
          carries: byToken ? createFilter({ tokens }) : undefined,
          scope: createFilter({
            tokens: scope.tokenAddress === undefined ? [] : [scope.tokenAddress],
            users: scope.userId === undefined ? [] : [scope.userId],
          }),
          filter: notingFilter(filter, notes),
        },
      });
      return notingFeeder(tail, notes, context.terminal.io.clock);
    });
  },
});

/** The feed of the only author or token, or else the feed of all posts. */
const onlyOf = (scopes: readonly ThesisScope[]): ThesisScope =>
  (scopes.length === 1 ? scopes[0] : undefined) ?? {};

const isNoHandle = ({ type }: Subject): boolean => type !== 'handle';

/** Whether a post is by one of these authors, without a request for the ids of handles. */
function isByOne(authors: readonly Subject[], ids: readonly string[]): (row: TailRow) => boolean {
  const names = new Set(
    authors.filter(({ type }) => type === 'handle').map(({ normal }) => normal),
  );
  const known = new Set(ids);
  return ({ record }) =>
    known.has(String(record['authorId']).toLowerCase()) ||
    names.has(String(record['authorHandle']).toLowerCase());
}
