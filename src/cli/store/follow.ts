import { instantAt } from '../../base/times.ts';
import { Follower } from '../../store/feed/follower.ts';
import type { Begin } from '../../store/feed/start.ts';
import { feedIdOf } from '../../store/keys.ts';
import { Ending } from '../../tail/ending.ts';
import { feedOf, type TailFiles } from '../../tail/file/position-file.ts';
import { thesisFeedName } from '../../tail/source.ts';
import type { GapFilling } from '../../tail/stored/fill-gap.ts';
import { StoreFollower } from '../../tail/stored/store-follower.ts';
import { beginAfter } from '../../tail/stored/stream-place.ts';
import type { Context } from '../run/context.ts';
import { storeNow } from '../run/open-store.ts';
import { type OutputPlan, openOutput, resumeOutput } from '../tail/output/open-output.ts';
import type { Feeder } from '../tail/run-feed.ts';
import { createStoreProgress, type StoredPosts, storedFeeder } from './stored-feeder.ts';

interface FollowPlan extends StoredPosts, OutputPlan {
  /** The tokens of the posts, to which the feed in the store may be restricted. */
  readonly tokens: readonly string[];
  /** Fetches the posts of gaps from the service. If undefined, gaps are only reported. */
  readonly filling: GapFilling | undefined;
}

/** Opens a run that prints the posts of a feed in the store. */
export async function openFollower(
  context: Context,
  files: TailFiles,
  plan: FollowPlan,
): Promise<Feeder> {
  const { terminal } = context;
  const { clock } = terminal.io;
  const { store, flags, feedId, filling, filter } = plan;
  const resumed = resumeOutput(context, files, plan);
  const { feed, position } = resumed;
  const begin = position ? beginAfter(position, feedId) : await beginOf(plan, context);
  const opened = await openOutput(context, plan, files, resumed, {
    hide() {},
    onNewFile: () => follower.saveSoon(),
    verified: () => follower.verified,
  });
  const stream = new Follower({
    open: () => store.link.open(),
    feed: store.keys.feed(feedId),
    begin,
    clock,
    marks: opened.ports.save !== undefined,
  });
  const isAll = feedId === feedIdOf({ tokens: [] });
  const leaderFeed = feedOf(thesisFeedName(undefined, isAll ? [] : plan.tokens), context.service);
  const ending = new Ending(terminal.signal, opened.closed);
  const progress = createStoreProgress(terminal, feedId);
  const follower = new StoreFollower(
    { clock, stream, output: opened.ports, progress, ending, filling },
    {
      feed,
      feedId,
      leaderFeed,
      position,
      begin,
      filter,
      count: flags.count,
      noFollow: flags.noFollow,
    },
  );
  return storedFeeder(context, plan, {
    source: follower,
    output: opened,
    progress,
    ending,
  });
}

/** Where a new run begins. */
async function beginOf(
  { flags: { since, backfill }, store }: FollowPlan,
  { terminal, settings }: Context,
): Promise<Begin> {
  if (since === undefined)
    return backfill === undefined ? { kind: 'now' } : { kind: 'newest', rows: backfill };
  const now = await storeNow(store, terminal.io.clock);
  return { kind: 'since', ms: instantAt(since, now, settings.utc) };
}
