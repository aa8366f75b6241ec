import * as z from 'zod/mini';
import { CooledConfluence } from '../../contract/records/confluence.ts';
import { CooledCallout } from '../../contract/records/launchpad.ts';
import { calloutCall, calloutScopes, calloutSource } from '../../core/pages/feeds.ts';
import { createFilter } from '../../core/pages/filter.ts';
import { liveCalloutView } from '../../output/views/launchpad.ts';
import { calloutConfluence } from '../../tail/confluence.ts';
import type { TailRow } from '../../tail/post-row.ts';
import { calloutFeedName, sourcesOf } from '../../tail/source.ts';
import { type GivenFlags, inGroup } from '../args/option.ts';
import { command } from '../command.ts';
import { calloutCalls, calloutScopeOptions, planCallouts } from '../lookup/callout-scope.ts';
import type { Context } from '../run/context.ts';
import { filtersOf, severalText } from '../tail/filters.ts';
import {
  checkTail,
  replayArgument,
  type TailFlags,
  tailOptions,
  withFiles,
} from '../tail/flags.ts';
import { shownBy } from '../tail/output/open-output.ts';
import { tailPlan, tailShape } from '../tail/plan.ts';
import { openTail } from '../tail/run.ts';
import { feedWords } from '../tail/run-note.ts';
import { checkSourceFlags } from '../tail/source-flags.ts';
import page from './launchpad-tail.md';
import { runTail, type TailedFeed } from './run-tail.ts';

export const launchpadTail = command({
  path: 'launchpad tail',
  page,
  args: [replayArgument],
  options: {
    ...inGroup('What to read', calloutScopeOptions),
    ...tailOptions,
  },
  mostUsed: [
    'coin',
    'wallet',
    'since',
    'count',
    'duration',
    'noFollow',
    'lag',
    'exec',
    'confluence',
    'cooldown',
    'waitForBudget',
  ],
  common: ['output', 'service', 'money'],
  calls: [...calloutCalls, 'me'],
  record: () => z.union([CooledCallout, CooledConfluence]),
  stream: true,
  exits: [3, 129, 130, 143],
  parse(words, flags) {
    const input = withFiles(words, checkTail(flags, liveCalloutView));
    checkSourceFlags(tailOptions, flags);
    return input;
  },
  async run(context, input) {
    await runTail(context, await calloutFeed(context, input));
  },
});

interface CalloutTailInput extends TailFlags, GivenFlags<typeof calloutScopeOptions> {}

/** The feed of the callouts that the flags name, from each of its sources. */
async function calloutFeed(context: Context, input: CalloutTailInput): Promise<TailedFeed> {
  const { coin, wallet, user, users } = input;
  const callouts = await planCallouts(input, context, input.replay.length === 0);
  const plan = tailPlan(
    tailShape(
      input,
      calloutScopes(callouts.coins, callouts.planned),
      (scope = {}) => calloutCall(scope, {}),
      false,
    ),
    callouts,
  );
  const from = users === undefined ? [] : [users];
  const shown = shownBy(input, {
    view: liveCalloutView,
    timeField: 'createdAt',
    fields: calloutConfluence,
  });
  return {
    flags: input,
    shown,
    list: input.users,
    words: feedWords('callouts', [...wallet, ...user, ...from], coin),
    plan,
    calls: plan.calls,
    replayed: () => ({
      postTime: 'createdAt',
      filter: createFilter<TailRow>({ coins: callouts.coins, wallets: callouts.keptWallets() }),
    }),
    async openLive(files) {
      const { coins } = callouts;
      const wallets = await callouts.wallets();
      const { name, among } = calloutFeedName(coins, wallets);
      const client = await context.service.client();
      const scopes = calloutScopes(coins, wallets);
      return openTail(context, files, client, {
        ...shown,
        flags: input,
        ...sourcesOf(scopes, (each) => calloutSource(client, each)),
        what: severalText(scopes.length, coins.length > 0 ? 'coin' : 'wallet'),
        feed: name,
        filters: filtersOf({}, among),
        options: { via: 'poll', filter: createFilter<TailRow>({ coins, wallets }) },
      });
    },
  };
}
