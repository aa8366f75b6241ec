import { Failure } from '../../base/failure.ts';
import { parseJson } from '../../base/json.ts';
import { countText, unitsText } from '../../base/units.ts';
import { span } from '../../output/format/time.ts';
import type { StreamRow } from '../../store/feed/entry.ts';
import { nothingMeasured, type TailFacts } from '../../tail/health.ts';
import type { PostFields, PostMark, TailRow } from '../../tail/post-row.ts';
import { leaderProof } from '../../tail/stored/leader-proof.ts';
import type { Context } from '../run/context.ts';
import type { RunStore } from '../run/open-store.ts';
import type { TailFlags } from '../tail/flags.ts';
import { feederText, placeText } from '../tail/notice-text.ts';
import type { RunWriter } from '../tail/output/run-writer.ts';
import type { Feeder } from '../tail/run-feed.ts';

export interface StoredPosts {
  readonly store: RunStore;
  readonly feedId: string;
  readonly flags: TailFlags;
  readonly filter: (row: TailRow) => boolean;
}

interface StoreSource<E> extends Omit<RunWriter<unknown>, 'writer'> {
  events(run: FollowerRun): AsyncIterable<E>;
  /** Handles an event. Returns whether the run continues. */
  take(event: E, run: FollowerRun): Promise<boolean>;
  /** Up to which post time the posts were delivered. */
  verified?(): number | null;
  /** Delivers everything that was written, unless the reader has closed the output. */
  end?(isOpen: boolean): Promise<void>;
}

export interface FollowerRun {
  /** Aborted when the run ends. */
  readonly until: AbortSignal;
  /** How many posts the run may still deliver. */
  readonly left: number;
  wanted(rows: readonly TailRow[], floor: number): TailRow[];
  delivered(rows: readonly TailRow[]): void;
  gap(text: string, advice?: string): void;
  /** Reports that posts may be missing, unless the store finds them again. */
  lost(last: PostMark | null | undefined, what: string): void;
  /** Ends the run because of a failure, which `end` of the source throws. */
  stop(): void;
}

export function storeFeeder<
  E extends { readonly kind: string; readonly why?: string; readonly rows?: readonly StreamRow[] },
>(context: Context, { store, feedId, flags, filter }: StoredPosts, source: StoreSource<E>): Feeder {
  const { io, signal } = context.terminal;
  const { clock } = io;
  const { closed, handoff } = source;
  const ended = new AbortController();
  const until = AbortSignal.any([signal, ended.signal, ...(closed ? [closed] : [])]);
  const began = clock.mono();
  const gaps: string[] = [];
  let left = (flags.confluence ? undefined : flags.count) ?? Number.POSITIVE_INFINITY;
  let count = 0;
  /** What is missing if the run ends before the store has the feed again. */
  let loss: string | undefined;
  let lastPost: TailFacts['lastPost'] = null;
  let [ready, away] = [false, false];
  const proofOf = leaderProof(store.link, store.keys.feed(feedId), clock);

  const facts = (): TailFacts => ({
    ...{ ...nothingMeasured, mode: 'store', handoff: handoff?.() ?? null },
    ...{ ready, failing: away, walkedAgoMs: proofOf(), verified: source.verified?.() ?? null },
    ...{ lastPost, rows: count, gaps: gaps.length },
  });

  const run: FollowerRun = {
    until,
    get left() {
      return left;
    },
    wanted: (rows, floor) =>
      rows.filter((row) => (row.at === null || row.at >= floor) && filter(row)),
    delivered(rows) {
      count += rows.length;
      left -= rows.length;
      const at = rows.findLast((row) => row.at !== null)?.at ?? null;
      if (at !== null) lastPost = { at, lagMs: Math.max(0, clock.now() - at) };
    },
    gap(text, advice = '') {
      gaps.push(text);
      context.terminal.notice(`GAP: ${text}${advice}`);
    },
    lost(mark, what) {
      loss = `posts${mark ? ` after ${placeText(mark)}` : ''} may be missing: the store has lost ${what}`;
      context.terminal.notice(`${loss}; waiting for a relay that continues it`);
    },
    stop: () => ended.abort(),
  };

  return {
    watched: {
      facts,
      text() {
        const state = facts();
        const { failing, walkedAgoMs } = state;
        const reading = failing ? 'the store is not reachable' : 'reading from the store';
        const verified = walkedAgoMs === null ? '' : `verified ${span(walkedAgoMs)} ago`;
        return feederText(state, clock.now(), reading, verified);
      },
    },
    check: source.check,
    async run() {
      if (flags.duration !== undefined)
        void clock.sleep(flags.duration, until).then(run.stop, () => {});
      until.addEventListener('abort', context.out.diskWait.close, { once: true });
      for await (const event of source.events(run)) {
        const { kind, why } = event;
        away = kind === 'away';
        ready ||= kind === 'live' || kind === 'active' || kind === 'standby';
        if (why !== undefined)
          context.terminal.notice(away ? `${why}; waiting for the store` : why);
        if (kind === 'back') context.terminal.notice('the store is available again');
        if (kind === 'found' || kind === 'gap') loss = undefined;
        if (kind === 'found')
          context.terminal.notice('the store has the feed again, and no post is missing');
        if (!(await source.take(event, run))) break;
      }
      await source.end?.(closed?.aborted !== true);
      if (loss !== undefined) gaps.push(loss);
      // The reader of the output may leave, but every other failure counts, such as a full disk.
      if (closed?.reason instanceof Failure && !signal.aborted) throw closed.reason;
      const [gap] = gaps;
      const gapsText = gap === undefined ? 'no gaps' : countText(gaps.length, 'gap');
      const took = span(clock.mono() - began);
      return {
        line: `stopped after ${took}: ${countText(count, 'post')}, ${gapsText}, ${unitsText(context.bill.spent)}`,
        gap: closed?.aborted === true ? undefined : gap,
      };
    },
    async close() {
      ended.abort();
      await source.close();
    },
  };
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
