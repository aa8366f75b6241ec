import { CALLOUT_PAGE } from '../../contract/limits.ts';
import { fieldPaths } from '../../contract/paths.ts';
import type { Sent } from '../../contract/read-record.ts';
import { Callout } from '../../contract/records/launchpad.ts';
import { calloutCall, calloutFeed } from '../../core/pages/feeds.ts';
import { createFilter } from '../../core/pages/filter.ts';
import { highlightOf } from '../../core/pages/pattern-search.ts';
import { walkPages } from '../../core/pages/walk.ts';
import { calloutView } from '../../output/views/callouts.ts';
import {
  filterOptions,
  listOptions,
  readListFlags,
  readPatterns,
  readRange,
  sortedRows,
} from '../args/list-flags.ts';
import { value } from '../args/option.ts';
import { text } from '../args/values.ts';
import { command } from '../command.ts';
import { calloutScopeOf, calloutScopeOptions } from '../lookup/callout-scope.ts';
import { serviceClock } from '../lookup/service-time.ts';
import { createListPosition, giveUp } from '../spend/continue-command.ts';
import { approveList } from '../spend/preflight.ts';
import { filtersOf } from '../tail/certify.ts';
import { calloutFeedName } from '../tail/source.ts';
import { createListCertificate } from '../verify/list-certificate.ts';

export const launchpadCallouts = command({
  path: 'launchpad callouts',
  summary: 'List coins called out on the launchpad, newest first',
  about: [
    'Shows the market cap at the time of each callout, and the price move since then as a multiple: the current multiple and the best.',
    'A page of 25 callouts costs 10 CU; pages are requested as needed. With --all, a filter, --until, or --since without --limit, the total is not known in advance, so the command starts at once. When its cost reaches the setting confirmAbove (100,000 CU by default), the command asks on a terminal whether to continue; without a terminal, it exits 6 and prints the command that continues the list. --max-cu sets a different limit, and --yes removes the limit. A list with a limit (--limit, or the default of 20) stops after 20 pages in a row without a match.',
    '--symbol, --grep and --exclude are applied on this machine: callouts that do not match are paid for too. --since and --until treat a callout without a post time like the callouts next to it; --since ends the list at the third callout in a row that is older.',
    'If a page has no new callouts although the service reports more, it is requested again. After three such answers, the command exits 9 and prints the command that continues the list.',
  ],
  options: {
    ...calloutScopeOptions,
    ...filterOptions,
    ...listOptions,
    before: value('--before', 'only callouts older than the one with this id', text('id')),
  },
  common: ['output', 'service', 'money'],
  examples: [
    { run: 'trdr launchpad callouts --since 2h', does: 'list the callouts of the last two hours' },
    {
      run: 'trdr launchpad callouts --all -o csv --out callouts.csv --max-cu 50k',
      does: 'export all callouts, for up to 50,000 CU',
    },
    {
      run: "trdr launchpad callouts --limit 500 -o ndjson | jq -s 'map(.multiple // empty) | add / length'",
      does: 'compute the average multiple of the last 500 callouts',
    },
  ],
  calls: ['launchpad.callouts', 'launchpad.callouts.coin', 'launchpad.callouts.wallet'],
  record: () => Callout,
  exits: [0, 2, 4, 5, 6, 7, 9, 11],
  parse(_, given) {
    return { ...given, ...readListFlags(given, fieldPaths(Callout)), ...readPatterns(given) };
  },
  async run(context, { coin, wallet, before, rows, sort, reverse, ...flags }) {
    const scope = await calloutScopeOf({ coin, wallet });
    const { utc } = context.settings;
    const range = readRange(flags, context.io.clock.now(), utc);
    const filter = createFilter<{ readonly record: Sent }>({
      symbols: flags.symbol,
      symbolField: 'coinSymbol',
      grep: flags.grep,
      exclude: flags.exclude,
    });
    const isFiltered = flags.symbol.length > 0 || flags.grep !== undefined || flags.exclude !== undefined;
    const open = rows === undefined || range.until !== undefined || isFiltered;
    const pages = open ? null : Math.ceil(rows / CALLOUT_PAGE);
    const planned = [{ ...calloutCall(scope, {}), times: pages }];
    if (await context.dryRun(planned)) return;
    await approveList(context, planned, rows, 'callout');
    const isTimed = flags.since !== undefined || flags.until !== undefined;
    const clock = isTimed ? await serviceClock(context) : context.io.clock;
    const exact = readRange(flags, clock.now(), utc);
    const walk = { ...exact, limit: rows, before, clock, signal: context.signal };
    const position = createListPosition(context, walk, (record) => filter({ record }));
    const certificate = createListCertificate(context, 'createdAt', walk);
    const feed = certificate.watch(calloutFeed(await context.client(), scope));
    const limits = rows === undefined ? {} : giveUp(context);
    const found = walkPages(feed, walk, certificate.filter({ ...position.filter, ...limits }));
    await context.print(
      { ...calloutView, highlight: highlightOf(flags.grep) },
      position.follow(sortedRows(found, { sort, reverse })),
    );
    certificate.write(calloutFeedName(coin, wallet), filtersOf(flags));
  },
});
