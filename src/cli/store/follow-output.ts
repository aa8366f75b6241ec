import { writeAtomic } from '../../base/replace-file.ts';
import type { View } from '../../output/view.ts';
import type { FeedPosition } from '../../store/feed/follower.ts';
import type { PostFields } from '../../tail/row.ts';
import type { Context } from '../context.ts';
import { printTo, type TailOutput } from '../tail/output/writer.ts';
import type { TailFlags } from '../tail/run.ts';
import { followText } from './follow-checkpoint.ts';

/** The output of a follower, and its checkpoint. */
export interface FollowOutput extends TailOutput {
  /** Aborted when the reader closes the output. */
  readonly closed: AbortSignal;
  /**
   * Whether a command processes the posts, so that they are acknowledged some time after they were written.
   */
  readonly lags: boolean;
  /**
   * Saves a position once all posts written so far were delivered. If saving fails, throws; with a command, aborts
   * `ended` instead, and `settled` throws.
   */
  reached(position: FeedPosition, ended: AbortController): Promise<void>;
  /** Resolves when the last position was saved; throws if saving failed. */
  settled(): Promise<void>;
}

interface FollowOutputPlan {
  readonly flags: TailFlags;
  readonly view: View<PostFields>;
}

/** Opens the output of the run: a printer, or the handoff to a command. */
export async function openFollowOutput(
  context: Context,
  { flags, view }: FollowOutputPlan,
  feed: string,
): Promise<FollowOutput> {
  const { checkpoint } = flags;
  const save = async (position: FeedPosition) => {
    if (checkpoint === undefined) return;
    const text = followText(feed, position);
    await context.diskWait.retry(checkpoint, () => writeAtomic(checkpoint, text, { private: false }));
  };
  if (flags.exec === undefined) {
    const records = await context.records(view);
    return {
      ...printTo(records, () => {}),
      closed: records.closed,
      lags: false,
      reached: save,
      settled: async () => {},
    };
  }
  const { openHandoff } = await import('../tail/exec/open.ts');
  const output = await openHandoff(context, { view, flags, checkpoint, feed });
  let next: FeedPosition | undefined;
  let saving: Promise<void> | undefined;
  let isSafe = false;
  let failure: { readonly error: unknown } | undefined;

  /** Saves the latest position as soon as all posts up to it were acknowledged. */
  const keepSaving = async () => {
    for (let position = next; position; position = next) {
      next = undefined;
      if (await output.sink.flush()) await save(position);
    }
    isSafe = true;
    saving = undefined;
  };

  return {
    ...output,
    closed: new AbortController().signal,
    lags: true,
    async reached(position, ended) {
      next = position;
      saving ??= keepSaving().catch((error: unknown) => {
        failure = { error };
        ended.abort();
      });
      // Hand nothing over before the start is on disk: after a crash, a run without it would start with new posts.
      if (!isSafe) await saving;
    },
    async settled() {
      await saving;
      if (failure) throw failure.error;
    },
  };
}
