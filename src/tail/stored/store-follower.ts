import { quietly } from '../../base/calls.ts';
import type { Clock } from '../../base/clock.ts';
import { storeFailure } from '../../store/failures.ts';
import type { StreamRow } from '../../store/feed/entry.ts';
import type { FollowEvent, Follower, GapEvent } from '../../store/feed/follower.ts';
import type { Begin, FeedPosition } from '../../store/feed/start.ts';
import type { Ending } from '../ending.ts';
import { KnownPosts } from '../known-posts.ts';
import { FeedOutput } from '../output/feed-output.ts';
import type { OutputPorts } from '../ports.ts';
import { type Position, readPosition } from '../position.ts';
import { nthNewest, type PostMark, type TailRow } from '../post-row.ts';
import { Wakeup } from '../wakeup.ts';
import { claim, rememberPosts, startAt } from './coverage.ts';
import type { GapFilling } from './fill-gap.ts';
import type { StoreProgress } from './store-progress.ts';
import { afterFilled, beforeAll, beforePost, floorOf } from './stream-place.ts';
import { fromTime, streamedRow } from './streamed-row.ts';

interface FollowerParts {
  readonly clock: Clock;
  /** Reads the entries of the stream. */
  readonly stream: Pick<Follower, 'events' | 'position'>;
  readonly output: OutputPorts;
  readonly progress: StoreProgress;
  readonly ending: Ending;
  /** Fetches the posts of gaps from the service. If undefined, gaps are only reported. */
  readonly filling: GapFilling | undefined;
}

interface FollowerPlan {
  /** The name of the feed in positions, in the store, and in the positions of its leader. */
  readonly feed: string;
  readonly feedId: string;
  readonly leaderFeed: string;
  /** Where an earlier run stopped. */
  readonly position: Position | undefined;
  readonly begin: Begin;
  readonly filter: (row: TailRow) => boolean;
  readonly count?: number | undefined;
  readonly noFollow?: boolean | undefined;
}

/**
 * Prints each post of a feed in the store exactly once, for 0 CU unless posts of gaps are fetched.
 */
export class StoreFollower {
  readonly #parts: FollowerParts;
  readonly #plan: FollowerPlan;
  readonly #output: FeedOutput;
  readonly #wakeup: Wakeup;
  /** What is delivered. */
  readonly #posts: KnownPosts;
  /** Where a later run reads on: after the rows that were delivered. */
  #reached: FeedPosition | undefined;
  /** Posts from before this time are not printed. */
  readonly #floor: number;
  readonly #isWanted: (row: TailRow) => boolean;
  #isOver = false;

  constructor(parts: FollowerParts, plan: FollowerPlan) {
    this.#parts = parts;
    this.#plan = plan;
    this.#posts = new KnownPosts(plan.position);
    this.#wakeup = new Wakeup(parts.clock);
    this.#reached = parts.stream.position();
    this.#floor = floorOf(plan.begin);
    this.#isWanted = fromTime(this.#floor, plan.filter);
    this.#output = new FeedOutput({
      ...parts.output,
      clock: parts.clock,
      wake: this.#wakeup.wake,
      count: plan.count,
      take: () => this.#position(),
      // Lines from which this run continues are as good as a position.
      isSafe: plan.position !== undefined,
    });
  }

  /** Up to which post time the posts were delivered. */
  get verified(): number | null {
    return this.#posts.verified;
  }

  get printed(): number | null {
    return this.#output.printed;
  }

  /** How many posts were held back. */
  get held(): number {
    return this.#output.held;
  }

  /** Called when the output continues in another file. */
  saveSoon(): void {
    this.#output.saveSoon();
    this.#wakeup.wake();
  }

  /** Delivers posts until the run ends. */
  async run(): Promise<void> {
    const { stream, ending, progress } = this.#parts;
    progress.note({ kind: 'reading' });
    const saving = this.#keepSaving();
    try {
      for await (const event of stream.events(ending.signal)) {
        progress.note(event);
        if (ending.hasFailed || !(await this.#handle(event))) break;
      }
      // Saving continues meanwhile, because a command acknowledges its last batch.
      await this.#output.stop();
    } finally {
      this.#isOver = true;
      this.#wakeup.wake();
      await saving;
      this.#wakeup.close();
    }
    ending.check();
    if (ending.hasReader) await this.#output.finish();
    ending.check();
    progress.end();
  }

  /** Saves positions while the run waits for posts, and while a command acknowledges them. */
  async #keepSaving(): Promise<void> {
    try {
      while (!this.#isOver) {
        this.#output.step();
        await this.#wakeup.wait(this.#output.due);
      }
    } catch (error) {
      this.#parts.ending.fail(error);
    }
  }

  #position(): Position | undefined {
    const { feed, feedId } = this.#plan;
    const reached = this.#reached;
    return reached && { feed, ...this.#posts.state, stream: { feed: feedId, ...reached } };
  }

  /** Handles an event of the stream. Returns whether the run continues. */
  async #handle(event: FollowEvent): Promise<boolean> {
    const { noFollow = false } = this.#plan;
    if (event.kind === 'away' && noFollow)
      throw storeFailure('STORE_AWAY', event.why, 'run the command again');
    if (!(await this.#apply(event))) return false;
    // Hand nothing over before the start is on disk: after a crash, a run without it would start
    // with new posts.
    if (!this.#output.isSafe && this.#reached) await this.#output.save();
    if (event.kind === 'rows') this.#output.saveWhenDue();
    else if (event.kind !== 'live') this.#output.saveSoon();
    this.#wakeup.wake();
    return this.#output.left > 0 && !(event.kind === 'live' && noFollow);
  }

  /**
   * Returns whether the output still has a reader: if it did not receive the last rows, no position
   * may cover them.
   */
  async #apply(event: FollowEvent): Promise<boolean> {
    const { stream, progress } = this.#parts;
    // When an outage ends, the reader already has the rows that it yields next.
    if (event.kind === 'away' || event.kind === 'back') return true;
    if (event.kind === 'rows') return await this.#takeRows(event.rows);
    if (event.kind === 'gap') return await this.#takeGap(event);
    if (event.kind === 'begun') this.#begin(event.times);
    if (event.kind === 'lost') progress.lost(stream.position()?.last ?? null);
    if (event.kind === 'mark') this.#verify(event.mark, event.isAfterHole);
    this.#reached = stream.position();
    return true;
  }

  /** A new run begins after the third newest post of the store, or where it was asked to begin. */
  #begin(times: readonly (number | null)[]): void {
    if (this.#plan.position) return;
    startAt(this.#posts, this.#floor > 0 ? this.#floor - 1 : nthNewest(times, 2));
  }

  /** What the leader has verified is verified here too, but for the posts of a hole. */
  #verify(mark: string, isAfterHole: boolean): void {
    const leader = quietly(() => readPosition(mark, this.#plan.leaderFeed));
    if (leader) claim(this.#posts, leader, isAfterHole);
  }

  async #takeRows(entries: readonly StreamRow[]): Promise<boolean> {
    const { stream, filling } = this.#parts;
    if (this.#posts.verified === null) startAt(this.#posts, beforeAll(entries));
    const rows = entries.filter(({ id }) => filling?.has(id) !== true).map(streamedRow);
    const left = await this.#deliver(rows);
    if (left === 'closed') return false;
    this.#reached =
      left.next === undefined
        ? stream.position()
        : beforePost(entries, left.next.id, this.#reached);
    return true;
  }

  async #takeGap(gap: GapEvent): Promise<boolean> {
    const { stream, progress, ending, filling } = this.#parts;
    const asked = Number.isFinite(this.#floor) ? { id: '', at: this.#floor } : null;
    // Without the start of a gap, it is not known how far back to read.
    const start = gap.from ?? asked;
    if (!filling || !start) {
      progress.gap({ from: gap.from, to: gap.to, isFillable: !filling && start !== null });
      this.#reached = stream.position();
      return true;
    }
    progress.filling(start, gap.to);
    const rows = await filling.rows(gap, start, stream.position(), ending.signal);
    const left = await this.#deliver(rows);
    if (left === 'closed') return false;
    const place = stream.position();
    this.#reached = place && afterFilled(place, left.delivered);
    return true;
  }

  /**
   * Delivers those rows that are wanted, up to `--count`: in several parts if a stage passes on
   * only some of them.
   */
  async #deliver(rows: readonly TailRow[]): Promise<'closed' | Delivered> {
    const wanted = rows.filter(this.#isWanted);
    let end = 0;
    while (end < wanted.length && this.#output.left > 0) {
      const part = wanted.slice(end, end + this.#output.left);
      const note = () => rememberPosts(this.#posts, part);
      if (!(await this.#output.deliver(part, note))) return 'closed';
      this.#parts.progress.delivered(part);
      end += part.length;
    }
    return { delivered: wanted.slice(0, end), next: wanted[end] };
  }
}

interface Delivered {
  readonly delivered: readonly PostMark[];
  /** The first post that `--count` has left to a later run. */
  readonly next: PostMark | undefined;
}
