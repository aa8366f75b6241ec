import { usageError } from '../../base/failure.ts';
import { LineSplitter } from '../../base/lines.ts';
import { instantAt } from '../../base/times.ts';
import { countText, group } from '../../base/units.ts';
import type { View } from '../../output/view.ts';
import { Confluence, type ConfluenceFields } from '../../tail/confluence.ts';
import { nothingMeasured } from '../../tail/health.ts';
import type { PostFields, TailRow } from '../../tail/post-row.ts';
import type { Context } from '../run/context.ts';
import { IdSet } from '../verify/id-set.ts';
import { chunksOf } from '../verify/scan.ts';
import type { TailFlags } from './flags.ts';
import { confluentSink } from './output/confluence-sink.ts';
import { postIn } from './output/line-count.ts';
import { printTo } from './output/writer.ts';
import type { Feeder } from './run-feed.ts';

interface ReplayPlan {
  readonly files: readonly string[];
  readonly flags: TailFlags;
  readonly view: View<PostFields>;
  /** The fields of the posts. */
  readonly postTime: string;
  readonly fields: ConfluenceFields;
  readonly filter: (row: TailRow) => boolean;
}

const LONGEST_LINE = 16 * 1024 * 1024;
/** So many rows are written at a time, unless --speed delays them. */
const ROWS = 100;

/** Reads posts from files in place of the service. A post that is there more than once is passed on once. */
export async function openReplay(context: Context, plan: ReplayPlan): Promise<Feeder> {
  const { signal } = context.terminal;
  const { flags, files, view } = plan;
  const { confluence, speed } = flags;
  const output =
    flags.exec === undefined
      ? printTo(await context.out.records(view), () => {})
      : await (await import('./exec/open.ts')).openHandoff(context, {
          ...{ view, flags, checkpoint: undefined },
          ...{ feed: `replay ${files.join(' ')}`, remembered: true },
        });
  const sink = confluence
    ? confluentSink(output.sink, new Confluence(confluence, plan.fields), flags.count)
    : output.sink;
  let read = 0;
  let left = confluence ? Number.POSITIVE_INFINITY : (flags.count ?? Number.POSITIVE_INFINITY);
  return {
    watched: {
      facts: () => ({ ...nothingMeasured, rows: read }),
      text: () => `replaying: ${countText(read, 'post')}`,
    },
    check: output.check,
    async run() {
      const rows = rowsOf(context, plan);
      let isOpen = true;
      for await (const batch of speed === undefined
        ? batched(rows, ROWS)
        : paced(rows, speed, context)) {
        const wanted = batch.slice(0, left);
        left -= wanted.length;
        read += wanted.length;
        isOpen = wanted.length === 0 || (await sink.write(wanted));
        if (!isOpen || left <= 0 || signal.aborted) break;
      }
      if (isOpen && !signal.aborted) await sink.flush();
      return { line: `replayed ${countText(read, 'post')}: 0 CU` };
    },
    async close() {
      await output.sink.end?.();
      await output.close();
    },
  };
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
  { files, flags, postTime, filter }: ReplayPlan,
): AsyncGenerator<TailRow, void, void> {
  const ids = new IdSet();
  const since = flags.since && instantAt(flags.since, terminal.io.clock.now(), settings.utc);
  let repeated = 0;
  let others = 0;
  for (const file of files) {
    const lines = new LineSplitter(LONGEST_LINE);
    let first: number | undefined;
    let last: number | undefined;
    const rowIn = (bytes: Buffer): TailRow | undefined => {
      const row = bytes.length === 0 ? null : postIn(bytes, postTime);
      if (bytes.length > 0 && !row) others++;
      if (!row) return undefined;
      first ??= row.at ?? undefined;
      last = row.at ?? last;
      if (ids.add(Buffer.from(row.id), 0) !== undefined) {
        repeated++;
        return undefined;
      }
      return (since === undefined || row.at === null || row.at >= since) && filter(row)
        ? row
        : undefined;
    };
    const isOrdered = flags.confluence !== undefined || flags.speed !== undefined;
    let count = 0;
    const kept = function* (some: Iterable<{ readonly bytes: Buffer }>) {
      for (const { bytes } of some) {
        const row = rowIn(bytes);
        // Three posts in a row that are older than the first one: the file is newest first.
        if (
          isOrdered &&
          ++count === NEWEST_FIRST &&
          first !== undefined &&
          (last ?? first) < first - ORDER_MS
        )
          throw newestFirst(file);
        if (row) yield row;
      }
    };
    for await (const chunk of chunksOf(file)) yield* kept(lines.push(chunk));
    yield* kept(lines.end());
  }
  if (repeated > 0)
    terminal.notice(`skipped ${countText(repeated, 'post')} that the files contain more than once`);
  if (others > 0) terminal.notice(`skipped ${group(others)} lines that are not posts`);
}

/** After so many lines it is decided whether a file is newest first; posts of a tail can be this late. */
const NEWEST_FIRST = 20;
const ORDER_MS = 240_000;

const newestFirst = (file: string) =>
  usageError(
    `${file} is newest first, and --confluence and --speed need the oldest post first`,
    `reverse it: tac ${file} > oldest-first.ndjson (or write lists with --reverse)`,
  );
