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

export const launchpadTail = command({
  path: 'launchpad tail',
  summary: 'Stream callouts as they are posted, each exactly once',
  about: [
    'The launchpad has no live feed, so its pages are polled for 10 CU each, with the same guarantees as the thesis tail. A page has 25 callouts; if more were posted between two polls, older pages are requested too. On a terminal, the last 10 callouts of the first page are printed first, unless --since, --backfill, --count, --out, --checkpoint or --exec is given.',
    '--exec CMD runs CMD for each batch of posts, with NDJSON on its stdin. Exit code 0 acknowledges the batch. Otherwise the batch is retried, and later batches wait; after --tries attempts, the batch is written to a dead-letter file next to the checkpoint. With --checkpoint, every post is handed over at least once; a crash repeats at most the posts of a few seconds.',
    '--out appends to the file. After a crash, the tail continues after the last line that it wrote, even if its file was renamed, deleted or finished by --rotate. A run that ends while posts may be missing exits 9.',
    'With --no-follow, prints all posts up to now and ends: with --out or --checkpoint, the next run continues there, as cron does once an hour. --since or --backfill states where the first run starts. It only polls, and its cost depends on how much was posted.',
    '--confluence N/D prints one record in place of the posts when N different wallets have posted about one coin within D, and its next version for each further one. It survives restarts.',
    '--replay FILE... reads posts from files, plain or gzipped, in place of the service: 0 CU, no key. --speed 10x keeps their distances in time.',
    'With --out FILE, FILE.trdr certifies what the file contains: see "trdr verify".',
    'Without --duration, the total cost of a tail is not known in advance: it starts at once and may spend as much as the setting confirmAbove allows (100,000 CU by default). --max-cu sets a different limit, and --yes removes the limit. At the limit, the tail asks on a terminal whether to continue; without a terminal, it exits 6 and prints the command that continues the tail.',
  ],
  args: [replayArgument],
  options: {
    ...inGroup('What to read', calloutScopeOptions),
    ...tailOptions,
  },
  common: ['output', 'service', 'money'],
  examples: {
    'trdr launchpad tail --duration 1h': 'watch for an hour',
    'trdr launchpad tail --lag 1m --out callouts.ndjson --max-cu 15k':
      'record to a file for about a day, at 10 CU/min',
  },
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
