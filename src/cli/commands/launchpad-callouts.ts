import * as z from 'zod/mini';
import { CALLOUT_PAGE } from '../../contract/limits.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { CountedPosts } from '../../contract/records/counted-posts.ts';
import { ListedCallout } from '../../contract/records/launchpad.ts';
import {
  calloutCall,
  calloutFeedOf,
  calloutScopes,
  calloutSource,
} from '../../core/pages/feeds.ts';
import { calloutView } from '../../output/views/launchpad.ts';
import { calloutFeedName } from '../../tail/source.ts';
import { countByOption, filterOptions, listOptions, readListFlags } from '../args/list-flags.ts';
import { command } from '../command.ts';
import { listJob } from '../lists/list-job.ts';
import { DAY } from '../lists/post-counter.ts';
import { calloutCalls, calloutScopeOptions, planCallouts } from '../lookup/callout-scope.ts';
import { runJob } from '../run/job.ts';
import page from './launchpad-callouts.md';

export const launchpadCallouts = command({
  path: 'launchpad callouts',
  page,
  excess: 'name an author with --user NAME or --wallet ADDRESS, and a coin with --coin MINT',
  options: {
    ...calloutScopeOptions,
    ...filterOptions,
    ...listOptions,
    countBy: countByOption('coinSymbol', 'userName', 'chain', DAY),
  },
  common: ['output', 'service', 'money'],
  calls: calloutCalls,
  record: () => z.union([ListedCallout, CountedPosts]),
  exits: [3],
  parse: (_, flags) => readListFlags(flags, fieldPaths(ListedCallout)),
  async run(context, { coin, wallet, user, users, column, ...flags }) {
    const of = await planCallouts({ coin, wallet, user, users, column }, context);
    const planned = calloutScopes(of.coins, of.planned);
    const job = listJob(context, flags, {
      view: calloutView,
      noun: ['callout'],
      symbolField: 'coinSymbol',
      networkField: 'chain',
      authorField: 'wallet',
      pageRows: CALLOUT_PAGE,
      first: of,
      page: calloutCall(planned[0] ?? {}, {}),
      wholePage: calloutCall({}, {}),
      feeds: planned.length,
      feedNoun: of.coins.length > 0 ? 'coin' : 'wallet',
      async open() {
        const wallets = await of.wallets();
        const client = await context.service.client();
        const scopes = calloutScopes(of.coins, wallets);
        return {
          own: scopes.map((scope) => calloutSource(client, scope)),
          feedOf: calloutFeedOf(scopes),
          whole: calloutSource(client),
          wanted: { coins: of.coins, wallets },
          ...calloutFeedName(of.coins, wallets),
        };
      },
    });
    return await runJob(job, context);
  },
});
