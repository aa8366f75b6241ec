import type { Plan, Planned } from '../../core/spend/plan.ts';
import type { TailFiles } from '../../tail/file/position-file.ts';
import type { TailRow } from '../../tail/post-row.ts';
import { approve } from '../run/approve.ts';
import type { Context } from '../run/context.ts';
import { printDryRun } from '../run/dry-run.ts';
import type { TailFlags } from '../tail/flags.ts';
import { checkOutput, type ShownPosts } from '../tail/output/open-output.ts';
import { type Feeder, runFeed } from '../tail/run-feed.ts';

export type OpenFeeder = (files: TailFiles) => Promise<Feeder>;

/** Which posts of a file are replayed, and which field has their time. */
export interface Replayed {
  readonly postTime: string;
  readonly filter: (row: TailRow) => boolean;
}

/** A feed with the sources from which a tail can read it: files, the store and the service. */
export interface TailedFeed {
  readonly flags: TailFlags;
  readonly shown: ShownPosts;
  /** The feed in words, for "trdr tails". */
  readonly words: string;
  /** The file that names whose posts are read. */
  readonly list: string | undefined;
  /** What following the service costs. */
  readonly plan: Plan;
  /** The calls that a dry run prints: not those of the service, if the run reads the store. */
  readonly calls: Iterable<Planned>;
  replayed(): Replayed | Promise<Replayed>;
  /** Finds the feed in the store; undefined if the run reads it from the service. */
  findStored?(): Promise<OpenFeeder | undefined>;
  openLive(files: TailFiles): Promise<Feeder>;
}

/** Follows a feed from the source that its flags name. Only the service is paid for. */
export async function runTail(context: Context, feed: TailedFeed): Promise<void> {
  const { flags, shown, plan, words, list } = feed;
  const isReplay = flags.replay.length > 0;
  if (await printDryRun(context, isReplay ? [] : feed.calls)) return;
  await checkOutput(context, shown, flags);
  if (isReplay) {
    const { openReplay } = await import('../replay/replay.ts');
    const replay = { ...shown, ...(await feed.replayed()), flags };
    await runFeed(context, flags, () => openReplay(context, replay));
    return;
  }
  const openStored = await feed.findStored?.();
  if (!openStored) await approve(plan, context);
  await runFeed(context, { ...flags, feed: words, list }, (files) =>
    openStored ? openStored(files) : feed.openLive(files),
  );
}
