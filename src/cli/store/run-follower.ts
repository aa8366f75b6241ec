import { Failure } from '../../base/failure.ts';
import { parseJson } from '../../base/json.ts';
import { countText, unitsText } from '../../base/units.ts';
import { span } from '../../output/format/time.ts';
import type { StreamRow } from '../../store/feed/entry.ts';
import type { HandoffHealth } from '../../tail/exec/handoff-meter.ts';
import type { PostFields, PostMark, TailRow } from '../../tail/row.ts';
import type { Context } from '../context.ts';
import { handoffStateText } from '../tail/exec/handoff-text.ts';
import type { TailFlags } from '../tail/flags.ts';
import { gapFailure } from '../tail/gap-failure.ts';
import { placeText } from '../tail/notice-text.ts';
import { nothingMeasured, type TailFacts, watchHealth } from '../tail/service/watch.ts';
import { leaderProof } from './leader-proof.ts';
import type { RunStore } from './open-store.ts';

/** The feed in the store that a run reads, and the posts that it wants. */
export interface StoredPosts {
  readonly store: RunStore;
  readonly feedId: string;
  readonly flags: TailFlags;
  readonly filter: (row: TailRow) => boolean;
}

/** The output of such a run. */
export interface FollowerOutput {
  /** Aborted when the reader closes the output; undefined for a command. */
  readonly closed: AbortSignal | undefined;
  readonly handoff?: (() => HandoffHealth) | undefined;
  /** Throws if the run must fail because of its output, such as dead letters. */
  readonly check?: (() => void) | undefined;
  /** Delivers everything that was written. */
  end?(): Promise<void>;
  close(): Promise<void>;
}

/** A run that reads a feed from the store. */
export interface FollowerRun {
  /** Aborted when the run ends. */
  readonly until: AbortSignal;
  /** The number of delivered posts. */
  readonly count: number;
  /** Selects the posts that the run wants. */
  wanted(rows: readonly TailRow[], floor: number): TailRow[];
  /** Counts delivered rows. Returns whether the run may continue. */
  delivered(rows: readonly TailRow[]): boolean;
  gap(text: string, advice?: string): void;
  /** Reports that posts may be missing, unless the store finds them again. */
  lost(last: PostMark | null | undefined, what: string): void;
  /** Ends the run because of a failure, which `end` of the output throws. */
  stop(): void;
}

/**
 * Reads events of a feed until the run ends by `--count`, `--duration`, a signal, a closed output, or because `take`
 * returns false. Reports the state of the run, and fails if posts are missing at the end.
 */
export async function runFollower<
  E extends { readonly kind: string; readonly why?: string; readonly rows?: readonly StreamRow[] },
>(
  context: Context,
  posts: StoredPosts,
  output: FollowerOutput,
  events: (run: FollowerRun) => AsyncIterable<E>,
  take: (event: E, run: FollowerRun) => Promise<boolean>,
): Promise<void> {
  const { io, signal, notice, diskWait } = context;
  const { flags } = posts;
  const { closed } = output;
  const ended = new AbortController();
  const until = AbortSignal.any([signal, ended.signal, ...(closed ? [closed] : [])]);
  const limit = (flags.confluence ? undefined : flags.count) ?? Number.POSITIVE_INFINITY;
  const began = io.clock.mono();
  const gaps: string[] = [];
  let count = 0;
  /** What is missing if the run ends before the store has the feed again. */
  let loss: string | undefined;
  let last: TailFacts['lastPostAt'] = null;
  let lag: TailFacts['lastPostLagMs'] = null;
  let [ready, away] = [false, false];

  const run: FollowerRun = {
    until,
    get count() {
      return count;
    },
    wanted: (rows, floor) => rows.filter((row) => (row.at === null || row.at >= floor) && posts.filter(row)),
    delivered(rows) {
      count += rows.length;
      const at = rows.findLast((row) => row.at !== null)?.at ?? null;
      if (at !== null) [last, lag] = [at, Math.max(0, io.clock.now() - at)];
      return count < limit;
    },
    gap(text, advice = '') {
      gaps.push(text);
      notice(`GAP: ${text}${advice}`);
    },
    lost(last, what) {
      loss = `posts${last ? ` after ${placeText(last)}` : ''} may be missing: the store has lost ${what}`;
      notice(`${loss}; waiting for a relay that continues it`);
    },
    stop: () => ended.abort(),
  };

  if (flags.duration !== undefined)
    io.clock.sleep(flags.duration, until).then(
      () => ended.abort(),
      () => {},
    );
  until.addEventListener('abort', diskWait.close, { once: true });
  try {
    watch(context, posts, output, (walkedAt) => ({
      ...{ ready, serviceUp: !away, walkedAt },
      ...{ lastPostAt: last, lastPostLagMs: lag, rows: count, gaps: gaps.length },
    }));
    for await (const event of events(run)) {
      const { kind, why } = event;
      away = kind === 'away';
      ready ||= kind === 'live' || kind === 'active' || kind === 'standby';
      if (why !== undefined) notice(away ? `${why}; waiting for the store` : why);
      if (kind === 'back') notice('the store is available again');
      if (kind === 'found' || kind === 'gap') loss = undefined;
      if (kind === 'found') notice('the store has the feed again, and no post is missing');
      if (!(await take(event, run))) break;
    }
    await output.end?.();
  } finally {
    ended.abort();
    await output.close();
  }
  if (loss !== undefined) gaps.push(loss);
  const gapsText = gaps.length === 0 ? 'no gaps' : countText(gaps.length, 'gap');
  const took = span(io.clock.mono() - began);
  notice(`stopped after ${took}: ${countText(count, 'post')}, ${gapsText}, ${unitsText(context.spent)}`);
  signal.throwIfAborted();
  // The reader of the output may leave, but every other failure counts, such as a full disk.
  if (closed?.aborted && closed.reason instanceof Failure) throw closed.reason;
  const [gap] = gaps;
  if (gap !== undefined && closed?.aborted !== true) throw gapFailure(gap);
  output.check?.();
}

/**
 * Reports the state of the run like that of a tail. Such a run has no main loop, so each call of `wake` counts as an
 * iteration, which shows that the event loop is not blocked.
 */
function watch(
  context: Context,
  { store, feedId, flags }: StoredPosts,
  { handoff }: FollowerOutput,
  measure: (walkedAt: number | null) => Partial<TailFacts>,
): void {
  const { clock } = context.io;
  const proofOf = leaderProof(store.link, store.keys.feed(feedId), clock);
  let turns = 0;
  const facts = (): TailFacts => ({
    ...{ ...nothingMeasured, mode: 'store', handoff: handoff?.() ?? null },
    ...measure(proofOf()),
  });
  const ago = (at: number) => `${span(Math.max(0, clock.now() - at))} ago`;
  watchHealth(context, flags, {
    facts,
    turns: () => turns,
    wake: () => void turns++,
    text() {
      const { rows, lastPostAt, serviceUp, walkedAt } = facts();
      const parts = [
        `${countText(rows, 'post')}${lastPostAt === null ? '' : `, the last from ${ago(lastPostAt)}`}`,
        serviceUp ? 'reading from the store' : 'the store is not reachable',
        walkedAt === null ? '' : `verified ${ago(walkedAt)}`,
        handoff ? handoffStateText(handoff(), clock.now()) : '',
      ];
      return parts.filter((part) => part !== '').join(' · ');
    },
  });
}

/** A post from the store as a row of a tail. Its record is parsed on first use. */
export function streamedRow({ id, at, body }: StreamRow): TailRow {
  let parsed: PostFields | undefined;
  return {
    id,
    at,
    raw: Buffer.from(body),
    get record() {
      parsed ??= fieldsOf(body);
      return parsed;
    },
  };
}

function fieldsOf(body: string): PostFields {
  const value = parseJson(body);
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
