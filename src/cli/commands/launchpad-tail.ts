import * as z from 'zod/mini';
import { ConfluenceRecord } from '../../contract/records/confluence.ts';
import { ListedCallout } from '../../contract/records/launchpad.ts';
import { calloutCall, calloutScopes } from '../../core/pages/feeds.ts';
import { createFilter } from '../../core/pages/filter.ts';
import { liveCalloutView } from '../../output/views/launchpad.ts';
import { confluenceView } from '../../output/views/thesis.ts';
import { calloutConfluence } from '../../tail/confluence.ts';
import type { TailRow } from '../../tail/post-row.ts';
import { inGroup } from '../args/option.ts';
import { command } from '../command.ts';
import { calloutCalls, calloutScopeOptions, planCallouts } from '../lookup/scope.ts';
import { approve, isDryRun } from '../run/approve.ts';
import { filtersOf, severalText } from '../tail/filters.ts';
import { checkTail, replayArgument, tailOptions, withFiles } from '../tail/flags.ts';
import { checkOutput } from '../tail/output/open-output.ts';
import { tailPlan } from '../tail/plan.ts';
import { openTail } from '../tail/run.ts';
import { runFeed } from '../tail/run-feed.ts';
import { feedWords } from '../tail/run-note.ts';
import { calloutFeedName, calloutSource, sourceOf } from '../tail/source.ts';
import page from './launchpad-tail.md';

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
    'waitForBudget',
  ],
  common: ['output', 'service', 'money'],
  calls: [...calloutCalls, 'me'],
  record: () => z.union([ListedCallout, ConfluenceRecord]),
  stream: true,
  exits: [0, 2, 3, 4, 5, 6, 7, 9, 11, 129, 130, 143],
  parse: (words, given) => withFiles(words, checkTail(given)),
  async run(context, { coin, wallet, user, users, column, ...flags }) {
    const isReplay = flags.replay.length > 0;
    const of = await planCallouts({ coin, wallet, user, users, column }, context, !isReplay);
    const planned = calloutScopes(of.coins, of.planned);
    const shape = {
      durationMs: flags.duration,
      noFollow: flags.noFollow,
      socket: false,
      lagMs: flags.lag,
      page: calloutCall(planned.length === 1 ? (planned[0] ?? {}) : {}, {}),
      ownPage: planned.length > 1 ? calloutCall(planned[0] ?? {}, {}) : undefined,
      backfill: flags.backfill,
    };
    const plan = tailPlan(shape, of.calls);
    if (await isDryRun(context, isReplay ? [] : plan.calls)) return;
    const shown = flags.confluence
      ? { view: confluenceView, timeField: 'lastAt', fields: calloutConfluence }
      : { view: liveCalloutView, timeField: 'createdAt', fields: calloutConfluence };
    await checkOutput(context, shown, flags);
    if (isReplay) {
      const { openReplay } = await import('../replay/replay.ts');
      const filter = createFilter<TailRow>({ coins: of.coins, wallets: of.keptWallets() });
      const plan = { ...shown, files: flags.replay, flags, filter, postTime: 'createdAt' };
      await runFeed(context, flags, () => openReplay(context, plan));
      return;
    }
    await approve(plan, context);
    const from = users === undefined ? [] : [users];
    const words = feedWords('callouts', [...wallet, ...user, ...from], coin);
    await runFeed(context, { ...flags, feed: words }, async (files) => {
      const wallets = await of.wallets();
      const { name: feed, among } = calloutFeedName(of.coins, wallets);
      const client = await context.service.client();
      const scopes = calloutScopes(of.coins, wallets);
      const filter = createFilter<TailRow>({ coins: of.coins, wallets });
      return openTail(context, files, client, {
        ...shown,
        flags,
        source: sourceOf(
          scopes,
          (each = {}) => calloutSource(client, each),
          context.terminal.io.clock.now,
        ),
        what: severalText(scopes.length, of.coins.length > 0 ? 'coin' : 'wallet'),
        feed,
        filters: filtersOf({}, among),
        options: { via: 'poll', filter },
      });
    });
  },
});
