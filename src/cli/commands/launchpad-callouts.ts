import { usageError } from '../../base/failure.ts';
import { cu } from '../../contract/endpoints.ts';
import { CALLOUT_PAGE } from '../../contract/limits.ts';
import { Callout } from '../../contract/records/launchpad.ts';
import { calloutCall, calloutFeed } from '../../core/pages/feeds.ts';
import { walk } from '../../core/pages/walk.ts';
import { calloutView } from '../../output/views/callouts.ts';
import { addressOf } from '../args/address.ts';
import { flag, value } from '../args/option.ts';
import { instantAt, integer, text, time } from '../args/values.ts';
import { command } from '../command.ts';
import { stopAtThreshold } from '../spend/unbounded.ts';

const DEFAULT_ROWS = 20;

export const launchpadCallouts = command({
  path: 'launchpad callouts',
  summary: 'List coins called out on the launchpad, newest first',
  about: [
    'Shows the market cap when each callout was posted, and the price move since as a multiple: current and best.',
    'Pages of 25 cost 10 CU each and are fetched as needed. Fetches without a known end (--all, --since) stop at confirmAbove unless --yes or --max-cu is given.',
  ],
  args: [],
  options: {
    coin: value('--coin', 'only this coin', text('mint')),
    wallet: value('--wallet', 'only callouts by this wallet', text('address')),
    limit: value(
      '--limit',
      'maximum number of results',
      integer({ min: 1 }),
      `${DEFAULT_ROWS}; unlimited with --since`,
    ),
    all: flag('--all', 'no limit on the number of results'),
    since: value('--since', 'only callouts posted since this time', time),
  },
  common: ['output', 'service', 'money'],
  examples: [
    { run: 'trdr launchpad callouts --since 2h', does: 'callouts of the last two hours' },
    {
      run: 'trdr launchpad callouts --all -o csv --out callouts.csv --max-cu 50k',
      does: 'export everything, for up to 50,000 CU',
    },
    {
      run: "trdr launchpad callouts --limit 500 -o ndjson | jq -s 'map(.multiple // empty) | add / length'",
      does: 'average multiple of the last 500',
    },
  ],
  calls: ['launchpad.callouts', 'launchpad.callouts.coin', 'launchpad.callouts.wallet'],
  record: () => Callout,
  exits: [0, 2, 4, 5, 6, 7, 9, 11],
  parse(_, { coin, wallet, limit, all, since }) {
    if (coin !== undefined && wallet !== undefined) {
      throw usageError('--coin and --wallet cannot be combined', 'use one of them');
    }
    if (all && limit !== undefined)
      throw usageError('--all and --limit cannot be combined', 'use one of them');
    const rows = limit ?? (all || since !== undefined ? undefined : DEFAULT_ROWS);
    return { coin, wallet, since, rows };
  },
  async run(context, { coin, wallet, since, rows }) {
    const scope = {
      ...(coin !== undefined && { mint: await addressOf('--coin', coin) }),
      ...(wallet !== undefined && { wallet: await addressOf('--wallet', wallet) }),
    };
    const pages = rows === undefined ? null : Math.ceil(rows / CALLOUT_PAGE);
    if (await context.dryRun([{ ...calloutCall(scope, {}), times: pages }])) return 0;
    if (pages !== null) {
      await context.approve({ least: cu.launchpad, most: cu.launchpad * pages }, 'walking the callouts');
    }
    const feed = calloutFeed(await context.client(), scope);
    const found = walk(pages === null ? stopAtThreshold(feed, context, cu.launchpad) : feed, {
      limit: rows,
      since: since && instantAt(since, context.io.clock.now(), context.settings.utc),
      signal: context.signal,
    });
    await context.print(calloutView, found);
    return 0;
  },
});
