import { instantAt } from '../../base/times.ts';
import { countText } from '../../base/units.ts';
import { aheadText, withoutFutureTime } from '../../core/pages/post.ts';
import type { View } from '../../output/view.ts';
import type { ConfluenceFields } from '../../tail/confluence.ts';
import { nothingMeasured } from '../../tail/health.ts';
import { FeedOutput } from '../../tail/output/feed-output.ts';
import { stagesOf } from '../../tail/output/stages.ts';
import type { PostFields, TailRow } from '../../tail/post-row.ts';
import { recordedPosts } from '../../verify/recorded-posts.ts';
import type { Context } from '../run/context.ts';
import type { TailFlags } from '../tail/flags.ts';
import { stagesText } from '../tail/notice-text.ts';
import { openWriter } from '../tail/output/open-writer.ts';
import type { Feeder } from '../tail/run-feed.ts';

interface ReplayPlan {
  readonly flags: TailFlags;
  readonly view: View<PostFields>;
  /** The fields of the posts. */
  readonly postTime: string;
  readonly fields: ConfluenceFields;
  readonly filter: (row: TailRow) => boolean;
}

/** So many rows are written at a time, unless --speed delays them. */
const ROWS = 100;

/**
 * Reads posts from files in place of the service. A post that is there more than once is passed on
 * once.
 */
export async function openReplay(context: Context, plan: ReplayPlan): Promise<Feeder> {
  const { signal } = context.terminal;
  const { flags, view } = plan;
  const opened = await openWriter(context, {
    view,
    flags,
    checkpoint: undefined,
    feed: `replay ${flags.replay.join(' ')}`,
    remembered: true,
  });
  const output = new FeedOutput({
    writer: opened.writer,
    stages: stagesOf(flags, plan),
    count: flags.count,
    clock: context.terminal.io.clock,
    wake() {},
    take: () => undefined,
    isSafe: true,
  });
  const replay = new Replay(context, output, flags.speed);
  return {
    watched: {
      facts: () => ({ ...nothingMeasured, rows: replay.read }),
      text: () => `replaying: ${countText(replay.read, 'post')}`,
    },
    check: opened.check,
    async run() {
      try {
        await replay.pass(rowsOf(context, plan));
      } catch (error) {
        if (!signal.aborted) throw error;
      }
      return {
        line: `replayed ${[countText(replay.read, 'post'), ...stagesText(output)].join(', ')}: 0 CU`,
      };
    },
    async close() {
      await output.stop();
      await opened.close();
    },
  };
}

/** Passes posts of files on to an output, until that is full or has no reader. */
class Replay {
  /** How many posts were passed on. */
  read = 0;
  readonly #context: Context;
  readonly #output: FeedOutput;
  readonly #speed: number | undefined;

  constructor(context: Context, output: FeedOutput, speed: number | undefined) {
    this.#context = context;
    this.#output = output;
    this.#speed = speed;
  }

  async pass(rows: AsyncGenerator<TailRow, void, void>): Promise<void> {
    const { signal } = this.#context.terminal;
    for await (const batch of this.#batches(rows))
      if (!(await this.#deliver(batch)) || signal.aborted) break;
    if (!signal.aborted) await this.#output.finish();
  }

  /** Returns whether more may be passed on. A stage may pass on only some of the posts. */
  async #deliver(batch: readonly TailRow[]): Promise<boolean> {
    for (let at = 0; at < batch.length; ) {
      const part = batch.slice(at, at + this.#output.left);
      at += part.length;
      this.read += part.length;
      const isOpen = await this.#output.deliver(part);
      if (!isOpen || this.#output.left <= 0) return false;
    }
    return true;
  }

  #batches(rows: AsyncIterable<TailRow>): AsyncGenerator<TailRow[], void, void> {
    if (this.#speed === undefined) return batched(rows, ROWS);
    return paced(rows, this.#speed, this.#context);
  }
}

async function* batched<T>(rows: AsyncIterable<T>, many: number): AsyncGenerator<T[], void, void> {
  let batch: T[] = [];
  for await (const row of rows) {
    batch.push(row);
    if (batch.length < many) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

/** Keeps the distances of the posts in time, divided by `speed`. */
async function* paced(
  rows: AsyncIterable<TailRow>,
  speed: number,
  {
    terminal,
    terminal: {
      io: { clock },
    },
  }: Context,
): AsyncGenerator<TailRow[], void, void> {
  let first: { readonly at: number; readonly mono: number } | undefined;
  for await (const row of rows) {
    if (row.at !== null) {
      first ??= { at: row.at, mono: clock.mono() };
      const due = first.mono + (row.at - first.at) / speed;
      if (due > clock.mono()) await clock.sleep(due - clock.mono(), terminal.signal);
    }
    yield [row];
  }
}

/** The posts of the files that pass the filters, in the order of the files. */
async function* rowsOf(
  { terminal, settings }: Context,
  { flags, postTime, filter }: ReplayPlan,
): AsyncGenerator<TailRow, void, void> {
  const since = flags.since && instantAt(flags.since, terminal.io.clock.now(), settings.utc);
  const isAsked = ({ at }: TailRow) => since === undefined || at === null || at >= since;
  const posts = new Posts(postTime, (row) => isAsked(row) && filter(row));
  const isOrdered = [flags.confluence, flags.cooldown, flags.speed].some(
    (set) => set !== undefined,
  );
  for (const file of flags.replay) {
    const rows = posts.in(file, terminal);
    yield* isOrdered ? oldestFirst(rows) : wanted(rows);
  }
  const { repeated, others, ahead } = posts;
  if (repeated > 0)
    terminal.notice(`skipped ${countText(repeated, 'post')} that the files contain more than once`);
  if (others > 0) terminal.notice(`skipped ${countText(others, 'line')} without a post`);
  if (ahead > 0) terminal.notice(aheadText(ahead));
}

/** A post of a file, and whether it is passed on. */
interface ReadPost {
  readonly row: TailRow;
  readonly isWanted: boolean;
}

/** Reads the posts of files, and counts what is not passed on. */
class Posts {
  repeated = 0;
  others = 0;
  ahead = 0;
  readonly #ids = new Set<string>();
  readonly #timeField: string;
  readonly #filter: (row: TailRow) => boolean;

  constructor(timeField: string, filter: (row: TailRow) => boolean) {
    this.#timeField = timeField;
    this.#filter = filter;
  }

  async *in(
    file: string,
    { io, signal }: Pick<Context['terminal'], 'io' | 'signal'>,
  ): AsyncGenerator<ReadPost, void, void> {
    for await (const post of recordedPosts(file, this.#timeField, { stdin: io.stdin, signal })) {
      const row = post && withoutFutureTime(post, io.clock.now());
      if (row && row.at !== post?.at) this.ahead++;
      if (row) yield { row, isWanted: this.#takeNew(row) && this.#filter(row) };
      else this.others++;
    }
  }

  /** Remembers a post, and returns whether it was not read before. */
  #takeNew({ id }: TailRow): boolean {
    const size = this.#ids.size;
    const isNew = this.#ids.add(id).size > size;
    if (!isNew) this.repeated++;
    return isNew;
  }
}

async function* wanted(posts: AsyncIterable<ReadPost>): AsyncGenerator<TailRow, void, void> {
  for await (const { row, isWanted } of posts) if (isWanted) yield row;
}

/** So many of the first posts of a file show its order. */
const SHOWING = 1_000;

/**
 * Tails write the oldest post first, and such a file is passed on as it is read. Any other file is
 * that of a list, which ends: it is read whole and sorted by time, because a tail may have
 * continued it.
 */
async function* oldestFirst(posts: AsyncIterable<ReadPost>): AsyncGenerator<TailRow, void, void> {
  const held: TailRow[] = [];
  const order = new OrderOfPosts();
  for await (const { row, isWanted } of posts) {
    if (isWanted) held.push(row);
    if (order.see(row)) yield* held.splice(0);
  }
  yield* order.sorted(held);
}

/** Finds out in which order the posts of a file are. */
class OrderOfPosts {
  /** Whether the first posts rise; undefined until enough of them were seen. */
  #isRising: boolean | undefined;
  #seen = 0;
  #rises = 0;
  #falls = 0;
  #last: number | null = null;

  /** Sees the next post; returns whether the posts of the file are known to come oldest first. */
  see({ at }: TailRow): boolean {
    if (this.#isRising !== undefined || at === null) return this.#isRising === true;
    if (this.#last !== null && at > this.#last) this.#rises++;
    if (this.#last !== null && at < this.#last) this.#falls++;
    this.#last = at;
    this.#seen++;
    // A late post falls and rises once each, so most steps of the file of a tail rise.
    if (this.#seen === SHOWING) this.#isRising = this.#rises >= 2 * this.#falls;
    return this.#isRising === true;
  }

  /**
   * All posts of a file, oldest first. A post without a time keeps its place behind the one before
   * it.
   */
  sorted(rows: readonly TailRow[]): readonly TailRow[] {
    const inOrder = this.#falls > this.#rises ? rows.toReversed() : rows;
    let last = Number.NEGATIVE_INFINITY;
    const placed = inOrder.map((row) => {
      last = row.at ?? last;
      return { row, place: last };
    });
    return placed.sort((one, other) => one.place - other.place).map(({ row }) => row);
  }
}
