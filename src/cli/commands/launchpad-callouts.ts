import { CALLOUT_PAGE } from '../../contract/limits.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { ListedCallout } from '../../contract/records/launchpad.ts';
import { calloutCall, calloutFeed } from '../../core/pages/feeds.ts';
import { calloutView } from '../../output/views/launchpad.ts';
import { filterOptions, listOptions, readListFlags } from '../args/list-flags.ts';
import { command } from '../command.ts';
import { listJob } from '../lists/list-job.ts';
import { calloutScopeOf, calloutScopeOptions } from '../lookup/scope.ts';
import { runJob } from '../run/job.ts';
import { calloutFeedName } from '../tail/source.ts';

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
  },
  common: ['output', 'service', 'money'],
  examples: {
    'trdr launchpad callouts --since 2h': 'list the callouts of the last two hours',
    'trdr launchpad callouts --all -o csv --out callouts.csv --max-cu 50k':
      'export all callouts, for up to 50,000 CU',
    "trdr launchpad callouts --limit 500 -o ndjson | jq -s 'map(.multiple // empty) | add / length'":
      'compute the average multiple of the last 500 callouts',
  },
  calls: ['launchpad.callouts', 'launchpad.callouts.coin', 'launchpad.callouts.wallet'],
  record: () => ListedCallout,
  exits: [0, 2, 4, 5, 6, 7, 9, 11],
  parse: (_, given) => readListFlags(given, fieldPaths(ListedCallout)),
  async run(context, { coin, wallet, ...flags }) {
    const scope = await calloutScopeOf({ coin, wallet });
    const job = listJob(context, flags, {
      view: calloutView,
      noun: ['callout'],
      symbolField: 'coinSymbol',
      timeField: 'createdAt',
      pageRows: CALLOUT_PAGE,
      page: calloutCall(scope, {}),
      open: async () => ({
        feed: calloutFeed(await context.service.client(), scope),
        name: calloutFeedName(coin, wallet),
      }),
    });
    return await runJob(job, context);
  },
});
