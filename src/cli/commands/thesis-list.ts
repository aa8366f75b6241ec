import { THESIS_BLOCK } from '../../contract/limits.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { ListedThesis } from '../../contract/records/thesis.ts';
import { thesisCall, thesisFeed } from '../../core/pages/feeds.ts';
import { thesisView } from '../../output/views/thesis.ts';
import {
  type ListInput,
  listOptions,
  readListFlags,
  thesisFilterOptions,
} from '../args/list-flags.ts';
import { value } from '../args/option.ts';
import { text } from '../args/values.ts';
import { command } from '../command.ts';
import { listJob } from '../lists/list-job.ts';
import { authorOf, planAuthor } from '../lookup/scope.ts';
import { savingTokens, tokenAddress } from '../lookup/token.ts';
import { runJob } from '../run/job.ts';
import { filtersOf } from '../tail/filters.ts';
import { thesisFeedName } from '../tail/source.ts';

export const thesisList = command({
  path: 'thesis list',
  summary: 'List theses, newest first',
  about: [
    'Lists all theses, or those about a token, by an author, or both. If --user is a handle, it is looked up first, for 100 CU (200 CU if it is not found), unless it is cached. If --token is a symbol, it is the token that an earlier list printed with it; nothing is requested to find it.',
    'A Solana address is case-sensitive: in lower case, it gives an empty list. An empty list of an author means that the service holds none of their posts; of an author and a token, that it holds none by this author about it.',
    'A page costs 200 CU for every 20 requested rows, rounded up, even if it is empty. With --all, a filter, --until, or --since without --limit, the total is not known in advance, so the command starts at once. When its cost reaches the setting confirmAbove (100,000 CU by default), the command asks on a terminal whether to continue; without a terminal, it exits 6 and prints the command that continues the list. --max-cu sets a different limit, and --yes removes the limit. A list with a limit (--limit, or the default of 20) stops after 20 pages in a row without a match.',
    '--symbol, --min-holdings, --dev-only, --grep and --exclude are applied on this machine: theses that do not match are paid for too. --since and --until treat a thesis without a post time like the theses next to it; --since ends the list at the third thesis in a row that is older.',
    'If a page has no new theses although the service reports more, it is requested again. After three such answers, the command exits 9 and prints the command that continues the list.',
  ],
  options: {
    token: value('--token', 'only theses about this token (address or symbol)', text('token')),
    user: value(
      '--author, --user',
      'only theses by this author (handle or id)',
      text('user', 'handle'),
    ),
    ...thesisFilterOptions,
    ...listOptions,
  },
  common: ['output', 'service', 'money'],
  examples: {
    'trdr thesis list': 'list the latest 20 theses',
    'trdr thesis list --user mira --since 7d': "list one author's theses of the last 7 days",
    'trdr thesis list --all --max-cu 500k --out theses.ndjson':
      'export the archive, for up to 500,000 CU',
    'trdr thesis list --token SPUD --since yesterday --min-holdings 10k':
      'list theses about a token, given by its symbol, from authors who hold at least $10,000',
    'trdr thesis list --limit 100 --sort authorTradeUsd':
      'sort the latest 100 theses by the size of the trade',
    "trdr thesis list --limit 200 | jq -r '.tokenSymbol' | sort | uniq -c | sort -rn":
      'count the most discussed tokens',
  },
  calls: ['thesis.all', 'thesis.token', 'thesis.user', 'thesis.userToken', 'user.handle'],
  record: () => ListedThesis,
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
      timeField: 'platformCreatedAt',
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
      onPosts: (posts) => savingTokens(posts, context),
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
