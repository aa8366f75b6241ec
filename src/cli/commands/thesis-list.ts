import { THESIS_BLOCK } from '../../contract/limits.ts';
import { fieldPaths } from '../../contract/paths.ts';
import type { Sent } from '../../contract/read-record.ts';
import { Thesis } from '../../contract/records/thesis.ts';
import { thesisCall, thesisFeed } from '../../core/pages/feeds.ts';
import { createFilter } from '../../core/pages/filter.ts';
import { highlightOf } from '../../core/pages/pattern-search.ts';
import { walkPages } from '../../core/pages/walk.ts';
import { thesisView } from '../../output/views/thesis.ts';
import {
  listOptions,
  readListFlags,
  readPatterns,
  readRange,
  sortedRows,
  thesisFilterOptions,
} from '../args/list-flags.ts';
import { value } from '../args/option.ts';
import { text } from '../args/values.ts';
import { command } from '../command.ts';
import type { Planned } from '../context.ts';
import { serviceClock } from '../lookup/service-time.ts';
import { authorOf, plannedAuthor, userIdOf } from '../lookup/thesis-scope.ts';
import { readToken, savingTokens, tokenAddressOf, tokenCost } from '../lookup/token.ts';
import { createListPosition, giveUp } from '../spend/continue-command.ts';
import { approveList } from '../spend/preflight.ts';
import { filtersOf } from '../tail/certify.ts';
import { thesisFeedName } from '../tail/source.ts';
import { createListCertificate } from '../verify/list-certificate.ts';

export const thesisList = command({
  path: 'thesis list',
  summary: 'List theses, newest first',
  about: [
    'Lists all theses, or those about a token, by an author, or both. If --user is a handle, it is looked up first, for 100 CU (200 CU if it is not found), unless it is cached. If --token is a ticker, trdr searches for it among the tokens of earlier lists, then in the newest 100 theses for up to 1,000 CU; with --user, in the newest 100 theses by this author.',
    'A page costs 200 CU for every 20 requested rows, rounded up, even if it is empty. With --all, a filter, --until, or --since without --limit, the total is not known in advance, so the command starts at once. When its cost reaches the setting confirmAbove (100,000 CU by default), the command asks on a terminal whether to continue; without a terminal, it exits 6 and prints the command that continues the list. --max-cu sets a different limit, and --yes removes the limit. A list with a limit (--limit, or the default of 20) stops after 20 pages in a row without a match.',
    '--symbol, --min-holdings, --dev-only, --grep and --exclude are applied on this machine: theses that do not match are paid for too. --since and --until treat a thesis without a post time like the theses next to it; --since ends the list at the third thesis in a row that is older.',
    'If a page has no new theses although the service reports more, it is requested again. After three such answers, the command exits 9 and prints the command that continues the list.',
  ],
  options: {
    token: value('--token', 'only theses about this token (address or ticker)', text('token')),
    user: value('--user', 'only theses by this author (handle or id); or --author', text('user', 'handle')),
    ...thesisFilterOptions,
    ...listOptions,
    before: value('--before', 'only theses older than the one with this id', text('id')),
  },
  common: ['output', 'service', 'money'],
  examples: [
    { run: 'trdr thesis list', does: 'list the latest 20 theses' },
    { run: 'trdr thesis list --user mira --since 7d', does: "list one author's theses of the last 7 days" },
    {
      run: 'trdr thesis list --all --max-cu 500k --out theses.ndjson',
      does: 'export the archive, for up to 500,000 CU',
    },
    {
      run: 'trdr thesis list --token SPUD --since yesterday --min-holdings 10k',
      does: 'list theses about a token, given by its ticker, from authors who hold at least $10,000',
    },
    {
      run: 'trdr thesis list --limit 100 --sort authorTradeUsd',
      does: 'sort the latest 100 theses by the size of the trade',
    },
    {
      run: "trdr thesis list --limit 200 | jq -r '.tokenSymbol' | sort | uniq -c | sort -rn",
      does: 'count the most discussed tokens',
    },
  ],
  calls: ['thesis.all', 'thesis.token', 'thesis.user', 'thesis.userToken', 'user.handle'],
  record: () => Thesis,
  exits: [0, 2, 3, 4, 5, 6, 7, 9, 11],
  parse: (_, given) => ({
    ...given,
    ...readListFlags(given, fieldPaths(Thesis)),
    ...readPatterns(given),
  }),
  async run(context, { token, user, before, rows, sort, reverse, ...flags }) {
    const { utc } = context.settings;
    const range = readRange(flags, context.io.clock.now(), utc);
    const choice = token === undefined ? undefined : await readToken(token);
    const author = user === undefined ? undefined : await authorOf(user);
    const filter = createFilter<{ readonly record: Sent }>({
      symbols: flags.symbol,
      minHoldings: flags.minHoldings,
      devOnly: flags.devOnly,
      grep: flags.grep,
      exclude: flags.exclude,
    });
    const isFiltered =
      flags.symbol.length > 0 ||
      flags.devOnly ||
      [flags.minHoldings, flags.grep, flags.exclude].some((given) => given !== undefined);
    // The maximum cost is not known with a filter or --until: they skip theses that are paid for too.
    const open = rows === undefined || range.until !== undefined || isFiltered;
    const { lookup, userId: plannedId } = plannedAuthor(author);
    const ticker = tokenCost(choice, plannedId, context);
    const page: Planned = {
      ...thesisCall(
        { userId: plannedId, tokenAddress: choice && ('address' in choice ? choice.address : PLANNED_TOKEN) },
        { limit: Math.min(rows ?? THESIS_BLOCK, THESIS_BLOCK) },
      ),
      times: open ? null : Math.ceil(rows / THESIS_BLOCK),
    };
    const planned = [...lookup, ...ticker, page];
    if (await context.dryRun(planned)) return;
    await approveList(context, planned, rows, 'thesis', 'theses');
    const isTimed = flags.since !== undefined || flags.until !== undefined;
    const clock = isTimed ? await serviceClock(context) : context.io.clock;
    const exact = readRange(flags, clock.now(), utc);
    const walk = { ...exact, limit: rows, before, clock, signal: context.signal };
    const position = createListPosition(context, walk, (record) => filter({ record }));
    const certificate = createListCertificate(context, 'platformCreatedAt', walk);
    let name = '';
    // Look up author and token after the output was opened, so that nothing is paid for if the output cannot
    // be written.
    async function* found() {
      const userId = author && (await userIdOf(author, context));
      const named = author && userId !== undefined ? { userId, name: author.text } : undefined;
      const tokenAddress = choice && (await tokenAddressOf(choice, named, context));
      name = thesisFeedName(userId, tokenAddress === undefined ? [] : [tokenAddress]);
      const feed = certificate.watch(thesisFeed(await context.client(), { userId, tokenAddress }));
      const limits = rows === undefined ? {} : giveUp(context);
      yield* walkPages(feed, walk, certificate.filter({ ...position.filter, ...limits }));
    }
    const view = { ...thesisView, highlight: highlightOf(flags.grep) };
    const sorted = sortedRows(savingTokens(found(), context), { sort, reverse });
    await context.print(view, position.follow(sorted));
    certificate.write(name, filtersOf(flags));
  },
});

/** A placeholder for the unknown address of a ticker in a dry run: the price is the same for every address. */
const PLANNED_TOKEN = '11111111111111111111111111111111';
