import { Failure } from '../../base/failure.ts';
import { checkSpace } from '../../output/disk-space.ts';
import { outputClosed } from '../../output/sink.ts';
import type { Context } from '../context.ts';
import type { ServiceFlags, TailFlags } from './flags.ts';
import { lockFiles, resumableOut } from './lock-files.ts';
import type { TailFiles } from './position-file.ts';
import { type Watched, watchHealth } from './service/watch.ts';

/** What follows a feed: a tail of the service, a follower of the store, a member of a group, or a relay. */
export interface Feeder {
  readonly watched: Watched;
  /** Follows the feed until the run ends. */
  run(): Promise<FeedEnd>;
  /** Throws if the run must fail because of its output, such as dead letters. */
  readonly check?: (() => void) | undefined;
  close(): Promise<void>;
}

interface FeedEnd {
  /** What is missing, if the run ended by itself although no later run will deliver it. */
  readonly gap?: string | undefined;
  /** The last line of the run. */
  readonly line?: string | undefined;
}

/** Locks the files of a run, opens its feeder, reports its state, and fails if posts are missing at the end. */
export async function runFeed(
  context: Context,
  flags: ServiceFlags & Partial<Pick<TailFlags, 'checkpoint'>>,
  open: (files: TailFiles) => Promise<Feeder>,
): Promise<void> {
  const { globals, signal, diskWait, notice } = context;
  const { checkpoint, status } = flags;
  const files = { out: resumableOut(globals.out), checkpoint };
  const unlock = lockFiles(context.settings, files.out, checkpoint, status);
  try {
    for (const path of [files.out, checkpoint]) if (path !== undefined) checkSpace(path);
    const feeder = await open(files);
    context.setOutcome({
      text: null,
      total: 0,
      get found() {
        return feeder.watched.facts().rows;
      },
    });
    let end: FeedEnd;
    try {
      watchHealth(context, flags, feeder.watched);
      end = await feeder.run();
    } finally {
      diskWait.close();
      await feeder.close();
    }
    if (end.line !== undefined) notice(end.line);
    // The reason of the abort determines the exit code: a signal, or a full disk.
    if (signal.reason !== outputClosed) signal.throwIfAborted();
    if (end.gap !== undefined) throw gapFailure(end.gap);
    feeder.check?.();
  } finally {
    unlock();
  }
}

/** The failure of a run that ended by itself although posts are missing, which no later run will deliver. */
const gapFailure = (text: string): Failure =>
  new Failure('service', text, {
    code: 'GAP',
    hint: 'read that part of the feed again with --since and --until of the list command',
  });
