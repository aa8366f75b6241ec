import * as z from 'zod/mini';
import { ConfluenceRecord } from '../../contract/records/confluence.ts';
import { ListedCallout } from '../../contract/records/launchpad.ts';
import { calloutCall } from '../../core/pages/feeds.ts';
import { liveCalloutView } from '../../output/views/launchpad.ts';
import { confluenceView } from '../../output/views/thesis.ts';
import { calloutConfluence } from '../../tail/confluence.ts';
import type { TailRow } from '../../tail/post-row.ts';
import { inGroup } from '../args/option.ts';
import { command } from '../command.ts';
import { calloutScopeOf, calloutScopeOptions } from '../lookup/scope.ts';
import { approve, isDryRun } from '../run/approve.ts';
import { checkTail, replayArgument, tailOptions, withFiles } from '../tail/flags.ts';
import { checkOutput } from '../tail/output/open.ts';
import { tailPlan } from '../tail/plan.ts';
import { openTail } from '../tail/run.ts';
import { runFeed } from '../tail/run-feed.ts';
import { calloutFeedName, calloutSource } from '../tail/source.ts';
import page from './launchpad-tail.md';

export const launchpadTail = command({
  path: 'launchpad tail',
  page,
  args: [replayArgument],
  options: {
    ...inGroup('What to read', calloutScopeOptions),
    ...tailOptions,
  },
  common: ['output', 'service', 'money'],
  calls: ['launchpad.callouts', 'launchpad.callouts.coin', 'launchpad.callouts.wallet', 'me'],
  record: () => z.union([ListedCallout, ConfluenceRecord]),
  stream: true,
  exits: [0, 2, 4, 5, 6, 7, 9, 11, 129, 130, 143],
  parse: (words, given) => withFiles(words, checkTail(given)),
  async run(context, { coin, wallet, ...flags }) {
    const scope = await calloutScopeOf({ coin, wallet });
    const shape = {
      durationMs: flags.duration,
      noFollow: flags.noFollow,
      socket: false,
      lagMs: flags.lag,
      page: calloutCall(scope, {}),
      backfill: flags.backfill,
    };
    const plan = tailPlan(shape);
    if (await isDryRun(context, flags.replay.length > 0 ? [] : plan.calls)) return;
    const shown = flags.confluence
      ? { view: confluenceView, timeField: 'lastAt', fields: calloutConfluence }
      : { view: liveCalloutView, timeField: 'createdAt', fields: calloutConfluence };
    await checkOutput(context, shown, flags);
    if (flags.replay.length > 0) {
      const { openReplay } = await import('../replay/replay.ts');
      const filter = ({ record }: TailRow) =>
        (coin === undefined || record['coinMint'] === coin) &&
        (wallet === undefined || record['wallet'] === wallet);
      const plan = { ...shown, files: flags.replay, flags, filter, postTime: 'createdAt' };
      await runFeed(context, flags, () => openReplay(context, plan));
      return;
    }
    await approve(plan, context);
    const client = await context.service.client();
    await runFeed(context, flags, (files) =>
      openTail(context, files, client, {
        ...shown,
        flags,
        source: calloutSource(client, scope),
        feed: calloutFeedName(coin, wallet),
        options: { via: 'poll' },
      }),
    );
  },
});
