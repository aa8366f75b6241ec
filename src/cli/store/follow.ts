import { Failure } from '../../base/failure.ts';
import { instantAt } from '../../base/time-values.ts';
import { countText, unitsText } from '../../base/units.ts';
import { span } from '../../output/format/time.ts';
import type { View } from '../../output/view.ts';
import { storeFailure } from '../../store/failures.ts';
import { entryMs } from '../../store/feed/entry.ts';
import {
  type Begin,
  createFollower,
  type FeedPosition,
  type FollowEvent,
} from '../../store/feed/follower.ts';
import type { FeedPoint } from '../../store/feed/place-after.ts';
import { continueAfter } from '../../tail/position.ts';
import type { PostFields, TailRow } from '../../tail/row.ts';
import { timing } from '../../tail/timing.ts';
import type { Context } from '../context.ts';
import { lockFiles, resumableOut } from '../tail/files.ts';
import { gapFailure } from '../tail/gap-failure.ts';
import { placeText } from '../tail/notice-text.ts';
import { lastPosts } from '../tail/position-file.ts';
import type { TailFlags } from '../tail/run.ts';
import { endAfter } from './end-after.ts';
import { afterFilled, type GapFilling } from './fill-gap.ts';
import { readFollowCheckpoint, withIds } from './follow-checkpoint.ts';
import { openFollowOutput } from './follow-output.ts';
import { type RunStore, storeNow } from './open-store.ts';
import { streamedRow } from './streamed-row.ts';
import { type FollowerWatch, watchFollower } from './watch-follower.ts';

/** The feed of a follower, and the posts to print. */
export interface FollowPlan {
  readonly store: RunStore;
  /** The feed in the store. */
  readonly feedId: string;
  readonly flags: TailFlags;
  readonly view: View<PostFields>;
  readonly timeField: string;
  readonly filter: (row: TailRow) => boolean;
  /** Fetches the posts of gaps from the service. If undefined, gaps are only reported. */
  readonly filling: GapFilling | undefined;
}

/**
 * Reads a feed from the store until the run ends, and prints each post exactly once. Costs 0 CU, unless `fill`
 * fetches posts from the service.
 */
export async function followStore(context: Context, plan: FollowPlan): Promise<void> {
  const { globals } = context;
  const { checkpoint, status } = plan.flags;
  const out = resumableOut(globals.out);
  const unlock = lockFiles({ out, checkpoint, status, state: context.settings.folders.state });
  try {
    const written = out === undefined ? [] : lastPosts(out, plan.timeField).reverse();
    const saved =
      checkpoint === undefined ? undefined : readFollowCheckpoint(checkpoint, nameOf(context, plan));
    const [last] = written;
    const known = written.map(({ id, at }) => [id, at] as const);
    const from = continueAfter(undefined, written, '', timing.latenessMs)?.start;
    const floor = from ?? Number.NEGATIVE_INFINITY;
    const begin: Begin = saved
      ? {
          kind: 'position',
          position: withIds(
            saved,
            written.map(({ id }) => id),
          ),
        }
      : last
        ? { kind: 'after', last, known, floor }
        : await beginOf(plan, context);
    await run(context, plan, begin);
  } finally {
    unlock();
  }
}

type GapEvent = Extract<FollowEvent, { kind: 'gap' }>;

const nameOf = ({ scope }: Context, { feedId }: FollowPlan) =>
  `${feedId} of ${scope?.baseUrl ?? 'a service'}`;

async function beginOf(
  { flags: { since, backfill }, store }: FollowPlan,
  { io, settings }: Context,
): Promise<Begin> {
  if (since !== undefined)
    return { kind: 'since', ms: instantAt(since, await storeNow(store, io.clock), settings.utc) };
  return backfill === undefined ? { kind: 'now' } : { kind: 'newest', rows: backfill };
}

async function run(context: Context, plan: FollowPlan, begin: Begin): Promise<void> {
  const { io, signal, notice } = context;
  const { store, flags, feedId } = plan;
  const feed = nameOf(context, plan);
  const output = await openFollowOutput(context, plan, feed);
  const ended = new AbortController();
  const until = AbortSignal.any([signal, ended.signal, output.closed]);
  const follower = createFollower({
    open: store.link.open,
    feed: store.keys.feed(feedId),
    begin,
    clock: io.clock,
  });
  const floor = begin.kind === 'since' ? begin.ms : Number.NEGATIVE_INFINITY;
  let count = 0;
  const gaps: string[] = [];
  let watch: FollowerWatch | undefined;
  const began = io.clock.mono();

  endAfter(io.clock, flags.duration, ended, until);
  until.addEventListener('abort', context.diskWait.close, { once: true });

  /** The last rows that were delivered, and the id of the first one that was not, because of --count. */
  let delivered: readonly TailRow[] = [];
  let left: string | undefined;
  let closed = false;

  /** Prints the rows that pass the filter. Returns false if the run must end. */
  async function emit(rows: readonly TailRow[]): Promise<boolean> {
    const passing = rows.filter((row) => (row.at === null || row.at >= floor) && plan.filter(row));
    const limit = flags.count ?? Number.POSITIVE_INFINITY;
    const wanted = passing.slice(0, limit - count);
    delivered = wanted;
    left = passing[wanted.length]?.id;
    closed =
      (wanted.length > 0 && !(await output.sink.write(wanted))) ||
      (!output.lags && !(await output.sink.flush()));
    if (closed) return false;
    count += wanted.length;
    watch?.delivered(wanted);
    return count < limit;
  }

  /** Where to start to fill a gap; null if the gap cannot be filled. */
  const fillsFrom = ({ from }: GapEvent): FeedPoint | null =>
    plan.filling === undefined ? null : (from ?? (Number.isFinite(floor) ? { id: '', at: floor } : null));

  async function onGap(gap: GapEvent): Promise<boolean> {
    const { from, to } = gap;
    const start = fillsFrom(gap);
    if (plan.filling && start) {
      notice(
        `the store no longer has the posts between ${placeText(start)} and ${placeText(to)}; fetching them from the service`,
      );
      return emit(await plan.filling.rows(gap, start, follower.position(), until));
    }
    const text = `posts may be missing between ${placeText(from)} and ${placeText(to)}: the store no longer has them`;
    gaps.push(text);
    notice(`GAP: ${text}${plan.filling ? '' : '; add --fill to fetch them from the service'}`);
    return true;
  }

  /** What may be missing if the run ends after the store has lost the feed; undefined if it has not. */
  let loss: string | undefined;

  /** The position after the delivered posts of an event. */
  function positionAfter(event: FollowEvent): FeedPosition | undefined {
    const position = follower.position();
    if (event.kind === 'gap' && fillsFrom(event) && position) return afterFilled(position, delivered);
    if (event.kind !== 'rows' || left === undefined) return position;
    const rows = event.rows.slice(
      0,
      event.rows.findIndex(({ id }) => id === left),
    );
    const last = rows.at(-1);
    if (last === undefined) return reached;
    const known = rows.map(({ id, entry }) => [id, entryMs(entry)] as const);
    return {
      entry: last.entry,
      last: { id: last.id, at: last.at },
      verified: last.verified ?? reached?.verified ?? null,
      known: [...(reached?.known ?? []), ...known],
    };
  }

  let reached = follower.position();
  notice(`reading from the store (${feedId}): 0 CU`);
  try {
    watch = watchFollower(context, { ...plan, handoff: output.handoff });
    for await (const event of follower.events(until)) {
      let open = true;
      watch.heard(event.kind === 'gap' && fillsFrom(event) ? 'rows' : event.kind);
      if (event.kind === 'gap' || event.kind === 'found') loss = undefined;
      if (event.kind === 'rows')
        open = await emit(event.rows.filter(({ id }) => plan.filling?.has(id) !== true).map(streamedRow));
      else if (event.kind === 'gap') open = await onGap(event);
      else if (event.kind === 'away' && flags.noFollow)
        throw storeFailure('STORE_AWAY', event.why, 'run the command again');
      else if (event.kind === 'away') notice(`${event.why}; waiting for the store`);
      else if (event.kind === 'live') open = !flags.noFollow;
      else if (event.kind === 'back') notice('the store is available again');
      else if (event.kind === 'found') notice('the store has the feed again, and no post is missing');
      else if (event.kind === 'lost') {
        const last = follower.position()?.last;
        loss = `posts${last ? ` after ${placeText(last)}` : ''} may be missing: the store has lost the feed`;
        notice(`${loss}; waiting for a relay that continues it`);
      }
      // The reader closed the output and did not receive the last rows, so do not save a position after them.
      if (closed) break;
      const position = positionAfter(event);
      if (position && event.kind !== 'away') await output.reached(position, ended);
      reached = position;
      if (!open) break;
    }
    await output.sink.end?.();
    await output.settled();
  } finally {
    ended.abort();
    await output.close();
  }
  if (loss !== undefined) gaps.push(loss);
  const took = span(io.clock.mono() - began);
  notice(
    `stopped after ${took}: ${countText(count, 'post')}, ${gaps.length === 0 ? 'no gaps' : countText(gaps.length, 'gap')}, ${unitsText(context.spent)}`,
  );
  signal.throwIfAborted();
  throwUnlessClosed(output.closed);
  const [gap] = gaps;
  if (gap !== undefined && !output.closed.aborted) throw gapFailure(gap);
  output.check?.();
}

/** Ignores the error of an output that its reader has closed; throws other errors, such as a full disk. */
function throwUnlessClosed(closed: AbortSignal): void {
  if (closed.aborted && closed.reason instanceof Failure) throw closed.reason;
}
