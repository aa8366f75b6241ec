import { writeAtomic } from '../../base/replace-file.ts';
import type { View } from '../../output/view.ts';
import type { FeedPosition } from '../../store/feed/follower.ts';
import type { Confluence } from '../../tail/confluence.ts';
import type { TailSink } from '../../tail/ports.ts';
import type { PostFields } from '../../tail/row.ts';
import type { Context } from '../context.ts';
import type { TailFlags } from '../tail/flags.ts';
import { confluentSink } from '../tail/output/confluent.ts';
import { printTo } from '../tail/output/writer.ts';
import { followText, withIds } from './follow-checkpoint.ts';
import type { FollowerOutput } from './run-follower.ts';

/** The output of a follower, and its checkpoint. */
interface FollowOutput extends FollowerOutput {
  readonly sink: TailSink;
  /** Whether a command processes the posts, so that they are acknowledged some time after they were written. */
  readonly lags: boolean;
  /**
   * Saves a position when all posts written so far were delivered. If saving fails, throws; with a command, calls `stop`
   * instead, and `end` throws.
   */
  reached(position: FeedPosition, stop: () => void): Promise<void>;
}

/** The shortest time between two saves while a command acknowledges posts. */
const SAVE_MS = 200;

/** Opens the output of the run: a printer, or the handoff to a command. */
export async function openFollowOutput(
  context: Context,
  { flags, view }: { readonly flags: TailFlags; readonly view: View<PostFields> },
  feed: string,
  confluence: Confluence | undefined,
): Promise<FollowOutput> {
  const { checkpoint } = flags;
  const wrapped = (sink: TailSink) => (confluence ? confluentSink(sink, confluence, flags.count) : sink);
  const withState = (position: FeedPosition): FeedPosition => ({ ...position, state: confluence?.state });
  const save = async (position: FeedPosition) => {
    if (checkpoint === undefined) return;
    const text = followText(feed, position);
    await context.diskWait.retry(checkpoint, () => writeAtomic(checkpoint, text, { private: false }));
  };
  if (flags.exec === undefined) {
    const records = await context.records(view);
    const printed = printTo(records, () => {});
    const reached = (position: FeedPosition) => save(withState(position));
    return { ...printed, sink: wrapped(printed.sink), closed: records.closed, lags: false, reached };
  }
  const { openHandoff } = await import('../tail/exec/open.ts');
  const output = await openHandoff(context, { view, flags, checkpoint, feed });
  const sink = wrapped(output.sink);
  /** Positions, and how many posts were written before each. The command has acknowledged those before the first. */
  const places: { readonly position: FeedPosition; readonly written: number }[] = [];
  /** The ids of the posts that were written after the first position. */
  let ids: string[] = [];
  let written = 0;
  let isDue = false;
  let saving: Promise<void> | undefined;
  let stopRun = () => {};
  let failure: { readonly error: unknown } | undefined;
  const ending = new AbortController();
  const acknowledged = sink.delivered?.(() => start()) ?? (() => written);

  /** The last position of which the command has everything, with what it has of the posts after it. */
  function delivered(): FeedPosition | undefined {
    const count = acknowledged();
    for (let next = places[1]; next && next.written <= count; next = places[1]) {
      ids = ids.slice(next.written - (places[0]?.written ?? 0));
      places.shift();
    }
    const [place] = places;
    // The state of the output is of that position only.
    return place && withIds(place.position, confluence ? [] : ids.slice(0, count - place.written));
  }

  async function keepSaving(): Promise<void> {
    while (isDue) {
      isDue = false;
      const position = delivered();
      if (position) await save(position);
      await context.io.clock.sleep(SAVE_MS, ending.signal).catch(() => {});
    }
    saving = undefined;
  }

  function start(): void {
    isDue = true;
    saving ??= keepSaving().catch((error: unknown) => {
      failure = { error };
      stopRun();
    });
  }

  return {
    ...output,
    sink: {
      ...sink,
      write(rows) {
        written += rows.length;
        for (const { id } of rows) ids.push(id);
        return sink.write(rows);
      },
    },
    closed: undefined,
    lags: true,
    async reached(position, stop) {
      stopRun = stop;
      // Hand nothing over before the start is on disk: after a crash, a run without it would start with new posts.
      if (places.length === 0) await save(withState(position));
      places.push({ position: withState(position), written });
      start();
    },
    async end() {
      await sink.end?.();
      ending.abort();
      start();
      await saving;
      if (failure) throw failure.error;
    },
  };
}
