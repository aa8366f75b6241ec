import { quietly } from '../../base/calls.ts';
import { isRecord, type JsonObject } from '../../base/json-object.ts';
import { instantAt } from '../../base/times.ts';
import { storeFailure } from '../../store/failures.ts';
import { entryMs, type FeedPoint, type StreamRow } from '../../store/feed/entry.ts';
import { createFollower, type FollowEvent } from '../../store/feed/follower.ts';
import type { Begin, FeedPosition } from '../../store/feed/start.ts';
import { feedIdOf } from '../../store/keys.ts';
import { feedOf, type TailFiles } from '../../tail/file/position-file.ts';
import { KnownPosts } from '../../tail/known.ts';
import { FeedOutput } from '../../tail/output/feed-output.ts';
import { type Position, readPosition } from '../../tail/position.ts';
import { nthNewest, type TailRow } from '../../tail/post-row.ts';
import { claim, rememberPosts, startAt } from '../../tail/stored/coverage.ts';
import { afterFilled, type GapFilling, withPosts } from '../../tail/stored/fill-gap.ts';
import { Wakeup } from '../../tail/wakeup.ts';
import type { Context } from '../run/context.ts';
import { storeNow } from '../run/open-store.ts';
import { placeText } from '../tail/notice-text.ts';
import { type OutputPlan, openOutput, resumeOutput } from '../tail/output/open.ts';
import type { Feeder } from '../tail/run-feed.ts';
import { thesisFeedName } from '../tail/source.ts';
import { type FollowerRun, type StoredPosts, storeFeeder, streamedRow } from './store-feeder.ts';

interface FollowPlan extends StoredPosts, OutputPlan {
  /** The tokens of the posts, to which the feed in the store may be restricted. */
  readonly tokens: readonly string[];
  /** Fetches the posts of gaps from the service. If undefined, gaps are only reported. */
  readonly filling: GapFilling | undefined;
}

/** Prints each post exactly once, for 0 CU, unless `filling` fetches posts from the service. */
export async function openFollower(
  context: Context,
  files: TailFiles,
  plan: FollowPlan,
): Promise<Feeder> {
  const { clock } = context.terminal.io;
  const { store, flags, feedId, filling } = plan;
  const resumed = resumeOutput(context, files, plan);
  const all = feedId === feedIdOf({ tokens: [] });
  const leaderFeed = feedOf(thesisFeedName(undefined, all ? [] : plan.tokens), context.service);
  const begin = beginAt(resumed.position, feedId) ?? (await beginOf(plan, context));
  const known = new KnownPosts(resumed.position);
  const wakeup = new Wakeup(clock);
  const opened = await openOutput(context, plan, files, resumed, {
    hide() {},
    moved() {
      output.touch();
      wakeup.wake();
    },
    verified: () => known.verified,
  });
  const follower = createFollower({
    ...{ open: store.link.open, feed: store.keys.feed(feedId), begin, clock },
    marks: opened.ports.save !== undefined,
  });
  const { writer, confluences, save, disk } = opened.ports;
  const output = new FeedOutput({
    writer,
    confluences,
    save,
    disk,
    clock,
    wake: wakeup.wake,
    count: flags.confluence ? undefined : flags.count,
    take: () =>
      reached && { feed: resumed.feed, ...known.state, stream: { feed: feedId, ...reached } },
    // Lines from which this run continues are as good as a position.
    isSafe: resumed.position !== undefined,
  });
  const floor = begin.kind === 'since' && !begin.known ? begin.ms : Number.NEGATIVE_INFINITY;
  let reached = follower.position();
  let failure: { readonly error: unknown } | undefined;
  const ended = new AbortController();

  /** Saves positions while the run waits for posts, and while a command acknowledges them. */
  async function keepSaving(stop: () => void): Promise<void> {
    try {
      while (!ended.signal.aborted) {
        output.step();
        await wakeup.wait(output.due);
      }
    } catch (error) {
      failure = { error };
      stop();
    }
  }

  /** Returns what was printed, and the first id beyond `--count`; undefined if the reader has closed the output. */
  async function emit(rows: readonly TailRow[], run: FollowerRun) {
    const passing = run.wanted(rows, floor);
    const wanted = passing.slice(0, output.left);
    if (!(await output.deliver(wanted, () => rememberPosts(known, wanted)))) return undefined;
    run.delivered(wanted);
    return { delivered: wanted, left: passing[wanted.length]?.id };
  }

  /** The posts of a gap, if they can be fetched. */
  async function fill(
    gap: GapEvent,
    start: FeedPoint | null,
    run: FollowerRun,
  ): Promise<TailRow[]> {
    const words = `between ${placeText(start ?? gap.from)} and ${placeText(gap.to)}`;
    if (filling && start) {
      context.terminal.notice(
        `the store no longer has the posts ${words}; fetching them from the service`,
      );
      return filling.rows(gap, start, follower.position(), run.until);
    }
    // Without a start of the gap, it is not known how far back to read.
    const canBegin = gap.from !== null || Number.isFinite(floor);
    const advice = filling || !canBegin ? '' : '; add --fill to fetch them from the service';
    run.gap(`posts may be missing ${words}: the store no longer has them`, advice);
    return [];
  }

  async function handle(event: FollowEvent, run: FollowerRun): Promise<boolean> {
    const { kind } = event;
    if (failure) return false;
    if (kind === 'away' && flags.noFollow)
      throw storeFailure('STORE_AWAY', event.why, 'run the command again');
    // A new run begins after the third newest post of the store, or before its first posts.
    if (kind === 'begun' && !resumed.position)
      startAt(known, floor > 0 ? floor - 1 : nthNewest(event.times, 2));
    if (kind === 'rows' && known.verified === null) startAt(known, beforeAll(event.rows));
    if (kind === 'lost') run.lost(follower.position()?.last, 'the feed');
    if (kind === 'mark') {
      const leader = quietly(() => readPosition(event.mark, leaderFeed));
      if (leader) claim(known, leader, event.isAfterHole);
    }
    let rows: readonly TailRow[] = [];
    // Where to start to fill a gap; null if it cannot be filled.
    let from: FeedPoint | null = null;
    if (kind === 'rows')
      rows = event.rows.filter(({ id }) => filling?.has(id) !== true).map(streamedRow);
    if (kind === 'gap') {
      if (filling) from = event.from ?? (Number.isFinite(floor) ? { id: '', at: floor } : null);
      rows = await fill(event, from, run);
    }
    const emitted =
      rows.length === 0 ? { delivered: rows, left: undefined } : await emit(rows, run);
    // The reader did not receive the last rows, so do not save a position after them.
    if (!emitted) return false;
    const { delivered, left } = emitted;
    const position = follower.position();
    if (from && position) reached = afterFilled(position, delivered);
    else if (kind === 'rows' && left !== undefined) reached = beforePost(event.rows, left, reached);
    else reached = position;
    // Hand nothing over before the start is on disk: after a crash, a run without it would start with new posts.
    if (!output.isSafe && reached) await output.save();
    if (kind === 'rows') output.moved();
    else if (kind !== 'live') output.touch();
    wakeup.wake();
    return output.left > 0 && !(kind === 'live' && flags.noFollow);
  }

  return storeFeeder(context, plan, {
    ...opened,
    verified: () => known.verified,
    events(run) {
      context.terminal.notice(`reading from the store (${feedId}): 0 CU`);
      void keepSaving(run.stop);
      return follower.events(run.until);
    },
    take: handle,
    async end(isOpen) {
      await output.stop();
      ended.abort();
      if (failure) throw failure.error;
      if (isOpen) await output.finish();
    },
    async close() {
      ended.abort();
      wakeup.wake();
      wakeup.close();
      await opened.close();
    },
  });
}

type GapEvent = Extract<FollowEvent, { kind: 'gap' }>;

/** Where an earlier run stopped, which may have read another feed, or pages of the service. */
function beginAt(position: Position | undefined, feedId: string): Begin | undefined {
  if (!position) return undefined;
  const { stream, ids, verified } = position;
  const place = stream && placeIn(stream, feedId);
  if (!place) return { kind: 'since', ms: (verified ?? -1) + 1, known: ids };
  return {
    kind: 'position',
    position: withPosts(
      place,
      ids.map(([id, at]) => ({ id, at })),
    ),
  };
}

function placeIn(stream: JsonObject, feedId: string): FeedPosition | undefined {
  const { feed = feedId, entry, last, known, verified, floor, hole } = stream;
  if (feed !== feedId || typeof entry !== 'string' || !/^\d+-\d+$/.test(entry)) return undefined;
  if (!Array.isArray(known) || !known.every(isKnown)) return undefined;
  const { id, at } = isRecord(last) ? last : {};
  const number = (value: unknown) => (typeof value === 'number' ? value : undefined);
  return {
    ...{ entry, known, verified: number(verified) ?? null, floor: number(floor) },
    last: typeof id === 'string' ? { id, at: number(at) ?? null } : null,
    hole: typeof hole === 'string' ? hole : undefined,
  };
}

const isKnown = (value: unknown): value is readonly [string, number] =>
  Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'number';

async function beginOf(
  { flags: { since, backfill }, store }: FollowPlan,
  { terminal, settings }: Context,
): Promise<Begin> {
  if (since !== undefined)
    return {
      kind: 'since',
      ms: instantAt(since, await storeNow(store, terminal.io.clock), settings.utc),
    };
  return backfill === undefined ? { kind: 'now' } : { kind: 'newest', rows: backfill };
}

function beforeAll(rows: readonly StreamRow[]): number | null {
  const oldest = nthNewest(
    rows.map(({ at }) => at),
    rows.length,
  );
  return oldest && oldest - 1;
}

/** The position before a post of the rows that were read after the position `reached`. */
function beforePost(
  read: readonly StreamRow[],
  id: string,
  reached: FeedPosition | undefined,
): FeedPosition | undefined {
  const end = read.findIndex((row) => row.id === id);
  const last = read[end - 1];
  if (last === undefined) return reached;
  const known = read.slice(0, end).map(({ id, entry }) => [id, entryMs(entry)] as const);
  return {
    ...{ ...reached, entry: last.entry, last: { id: last.id, at: last.at } },
    verified: last.verified ?? reached?.verified ?? null,
    known: [...(reached?.known ?? []), ...known],
  };
}
