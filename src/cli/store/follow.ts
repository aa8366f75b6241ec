import { usageError } from '../../base/failure.ts';
import { instantAt } from '../../base/time-values.ts';
import type { View } from '../../output/view.ts';
import { storeFailure } from '../../store/failures.ts';
import { entryMs, type StreamRow } from '../../store/feed/entry.ts';
import {
  type Begin,
  createFollower,
  type FeedPosition,
  type FollowEvent,
} from '../../store/feed/follower.ts';
import type { FeedPoint } from '../../store/feed/place-after.ts';
import { Confluence, type ConfluenceFields, confluenceName } from '../../tail/confluence.ts';
import { continueAfter } from '../../tail/position.ts';
import type { PostFields, TailRow } from '../../tail/row.ts';
import { timing } from '../../tail/timing.ts';
import type { Context } from '../context.ts';
import { lockFiles, resumableOut } from '../tail/lock-files.ts';
import { placeText } from '../tail/notice-text.ts';
import { lastPosts } from '../tail/position-file.ts';
import { afterFilled, type GapFilling } from './fill-gap.ts';
import { readFollowCheckpoint, withIds } from './follow-checkpoint.ts';
import { openFollowOutput } from './follow-output.ts';
import { storeNow } from './open-store.ts';
import { type FollowerRun, runFollower, type StoredPosts, streamedRow } from './run-follower.ts';

/** The feed of a follower, and the posts to print. */
interface FollowPlan extends StoredPosts {
  readonly view: View<PostFields>;
  readonly timeField: string;
  /** The fields that decide about confluences. */
  readonly fields: ConfluenceFields;
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
  if (plan.flags.confluence && out !== undefined && checkpoint === undefined)
    throw usageError(
      '--confluence with posts from the store cannot continue from --out',
      'add --checkpoint F',
    );
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

const nameOf = ({ scope }: Context, { feedId, flags }: FollowPlan) =>
  `${feedId}${confluenceName(flags.confluence)} of ${scope?.baseUrl ?? 'a service'}`;

async function beginOf(
  { flags: { since, backfill }, store }: FollowPlan,
  { io, settings }: Context,
): Promise<Begin> {
  if (since !== undefined)
    return { kind: 'since', ms: instantAt(since, await storeNow(store, io.clock), settings.utc) };
  return backfill === undefined ? { kind: 'now' } : { kind: 'newest', rows: backfill };
}

async function run(context: Context, plan: FollowPlan, begin: Begin): Promise<void> {
  const { store, flags, feedId, filling } = plan;
  const rule = flags.confluence;
  const state = begin.kind === 'position' ? begin.position.state : undefined;
  const verified = () => follower.position()?.verified ?? null;
  const confluence = rule && new Confluence(rule, plan.fields, state, verified);
  const output = await openFollowOutput(context, plan, nameOf(context, plan), confluence);
  const follower = createFollower({
    open: store.link.open,
    feed: store.keys.feed(feedId),
    begin,
    clock: context.io.clock,
  });
  const floor = begin.kind === 'since' ? begin.ms : Number.NEGATIVE_INFINITY;
  let reached = follower.position();
  let isBegun = false;

  /** Prints the rows that pass the filter. Returns them, and whether the run must end. */
  async function emit(rows: readonly TailRow[], run: FollowerRun) {
    const passing = run.wanted(rows, floor);
    const left = rule ? undefined : flags.count;
    const wanted = passing.slice(0, (left ?? Number.POSITIVE_INFINITY) - run.count);
    const isOpen =
      (wanted.length === 0 || (await output.sink.write(wanted))) &&
      (output.lags || (await output.sink.flush()));
    const continues = isOpen && run.delivered(wanted);
    return { rows: wanted, left: passing[wanted.length]?.id, isOpen, continues };
  }

  async function onGap(gap: GapEvent, start: FeedPoint | null, run: FollowerRun): Promise<Emitted> {
    const words = `between ${placeText(start ?? gap.from)} and ${placeText(gap.to)}`;
    if (filling && start) {
      context.notice(`the store no longer has the posts ${words}; fetching them from the service`);
      return emit(await filling.rows(gap, start, follower.position(), run.until), run);
    }
    const advice = filling ? '' : '; add --fill to fetch them from the service';
    run.gap(`posts may be missing ${words}: the store no longer has them`, advice);
    return nothing;
  }

  async function take(event: FollowEvent, run: FollowerRun): Promise<boolean> {
    const { kind } = event;
    // A command may have acknowledged posts of the first rows before the position after them is reached.
    if (output.lags && !isBegun && reached) await output.reached(reached, run.stop);
    isBegun = true;
    if (kind === 'away' && flags.noFollow)
      throw storeFailure('STORE_AWAY', event.why, 'run the command again');
    if (kind === 'lost') run.lost(follower.position()?.last, 'the feed');
    // Where to start to fill a gap; null if it cannot be filled.
    const from =
      filling && kind === 'gap'
        ? (event.from ?? (Number.isFinite(floor) ? { id: '', at: floor } : null))
        : null;
    const emitted =
      kind === 'rows'
        ? await emit(event.rows.filter(({ id }) => filling?.has(id) !== true).map(streamedRow), run)
        : kind === 'gap'
          ? await onGap(event, from, run)
          : nothing;
    // The reader closed the output and did not receive the last rows, so do not save a position after them.
    if (!emitted.isOpen) return false;
    const position = follower.position();
    if (from && position) reached = afterFilled(position, emitted.rows);
    else if (kind !== 'rows' || emitted.left === undefined) reached = position;
    else reached = beforePost(event.rows, emitted.left, reached);
    if (reached && kind !== 'away') await output.reached(reached, run.stop);
    return emitted.continues && !(kind === 'live' && flags.noFollow);
  }

  context.notice(`reading from the store (${feedId}): 0 CU`);
  await runFollower(context, plan, output, ({ until }) => follower.events(until), take);
}

/**
 * The rows that were printed, and the id of the first one that was not because of `--count`; whether the output is open,
 * and whether the run continues.
 */
interface Emitted {
  readonly rows: readonly TailRow[];
  readonly left: string | undefined;
  readonly isOpen: boolean;
  readonly continues: boolean;
}

const nothing: Emitted = { rows: [], left: undefined, isOpen: true, continues: true };

/** The position before a post of the rows that were read after the position `reached`. */
function beforePost(
  read: readonly StreamRow[],
  id: string,
  reached: FeedPosition | undefined,
): FeedPosition | undefined {
  const rows = read.slice(
    0,
    read.findIndex((row) => row.id === id),
  );
  const last = rows.at(-1);
  if (last === undefined) return reached;
  return {
    entry: last.entry,
    last: { id: last.id, at: last.at },
    verified: last.verified ?? reached?.verified ?? null,
    known: [...(reached?.known ?? []), ...rows.map(({ id, entry }) => [id, entryMs(entry)] as const)],
  };
}
