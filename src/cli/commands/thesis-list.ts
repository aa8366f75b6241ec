import * as z from 'zod/mini';
import { THESIS_BLOCK } from '../../contract/limits.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { CountedPosts } from '../../contract/records/counted-posts.ts';
import { ListedThesis } from '../../contract/records/thesis.ts';
import { thesisCall, thesisFeed } from '../../core/pages/feeds.ts';
import { thesisView } from '../../output/views/thesis.ts';
import {
  countByOption,
  type ListInput,
  listOptions,
  readListFlags,
  thesisFilterOptions,
} from '../args/list-flags.ts';
import { value } from '../args/option.ts';
import { text } from '../args/values.ts';
import { command } from '../command.ts';
import { listJob } from '../lists/list-job.ts';
import { DAY } from '../lists/post-counter.ts';
import { notingAuthors } from '../lookup/author-notes.ts';
import { authorOf, planAuthor } from '../lookup/scope.ts';
import { savingTokens, tokenAddress } from '../lookup/token.ts';
import { runJob } from '../run/job.ts';
import { filtersOf } from '../tail/filters.ts';
import { thesisFeedName } from '../tail/source.ts';
import page from './thesis-list.md';

export const thesisList = command({
  path: 'thesis list',
  page,
  options: {
    token: value('--token', 'only theses about this token (address or symbol)', text('token')),
    user: value(
      '--author, --user',
      'only theses by this author (handle or id)',
      text('user', 'handle'),
    ),
    ...thesisFilterOptions,
    ...listOptions,
    countBy: countByOption('tokenSymbol', 'authorHandle', 'tokenNetwork', DAY),
  },
  common: ['output', 'service', 'money'],
  calls: ['thesis.all', 'thesis.token', 'thesis.user', 'thesis.userToken', 'user.handle'],
  record: () => z.union([ListedThesis, CountedPosts]),
  exits: [0, 2, 3, 4, 5, 6, 7, 9, 11],
  parse: (_, given) => readListFlags(given, fieldPaths(ListedThesis)),
  async run(context, { token, user, ...flags }) {
    const address = token === undefined ? undefined : await tokenAddress(token, context);
    const author = user === undefined ? undefined : await authorOf(user, context.terminal);
    const { calls, plannedId, userId: findUserId } = await planAuthor(author, context);
    const page = thesisCall(
      { userId: plannedId, tokenAddress: address },
      { limit: Math.min(flags.rows ?? THESIS_BLOCK, THESIS_BLOCK) },
    );
    const job = listJob(context, flags, {
      view: { ...thesisView, empty: emptyText(flags, author?.text, token) },
      noun: ['thesis', 'theses'],
      symbolField: 'tokenSymbol',
      networkField: 'tokenNetwork',
      timeField: 'platformCreatedAt',
      authorField: 'authorId',
      pageRows: THESIS_BLOCK,
      before: calls,
      page,
      async open() {
        const userId = await findUserId();
        return {
          feed: thesisFeed(await context.service.client(), { userId, tokenAddress: address }),
          name: thesisFeedName(userId, address === undefined ? [] : [address]),
        };
      },
      onPosts: (posts) => notingAuthors(savingTokens(posts, context), context),
    });
    return await runJob(job, context);
  },
});

/** What an empty page proves depends on the feed, and with conditions or a range it proves nothing about the feed. */
function emptyText(
  { conditions, since, until, before }: ListInput,
  author: string | undefined,
  token: string | undefined,
): string {
  const range = [since, until, before];
  if (Object.keys(filtersOf(conditions)).length > 0 || range.some((bound) => bound !== undefined))
    return 'no theses match';
  if (author !== undefined && token !== undefined)
    return `no theses: the service holds nothing by ${author} about ${token}`;
  if (author !== undefined) return `no theses: the service holds nothing that ${author} has posted`;
  if (token !== undefined)
    return `no theses: the service holds nothing about ${token} (upper and lower case matter in a Solana address)`;
  return thesisView.empty;
}
