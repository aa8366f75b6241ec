import { Failure, usageError } from '../../base/failure.ts';
import { type Instant, instantAt } from '../../base/times.ts';
import { countText, group, unitsText } from '../../base/units.ts';
import { cu } from '../../contract/limits.ts';
import type { Rows } from '../../contract/ports/rows.ts';
import type { Sent } from '../../contract/read-record.ts';
import type { BoardPeriod } from '../../contract/records/launchpad.ts';
import {
  type BoardTimes,
  countTimes,
  distinctBoards,
  readSnapshot,
  rowsIn,
  type Snapshot,
  type SnapshotTime,
  timesToRead,
  traderRecord,
  tradersIn,
  tradersNamed,
} from '../../core/board-history.ts';
import { boardCall, isOnRecord, walletKey } from '../../core/boards.ts';
import { askRows } from '../../core/rows/ask-rows.ts';
import { MemoryRows } from '../../core/rows/memory-rows.ts';
import type { Plan } from '../../core/spend/plan.ts';
import { namesText } from '../../output/notices.ts';
import type { View } from '../../output/view.ts';
import { historyView, traderHistoryView, traderRecordView } from '../../output/views/launchpad.ts';
import type { ExportJournal } from '../../state/export-journal/journal.ts';
import type { ExportIdentity } from '../../state/export-journal/open-journal.ts';
import type { ExitCode } from '../exit.ts';
import { serviceClock } from '../lookup/service-time.ts';
import { isSpent } from '../lookup/tally.ts';
import type { Context } from '../run/context.ts';
import { continueList, hintToContinue } from '../run/continue-command.ts';
import {
  type Destination,
  destinationOf,
  isFinished,
  rehearseExport,
  reportResumption,
  textsOf,
  withExport,
} from '../run/destination.ts';
import { type CommandJob, RowTally, runJob } from '../run/job.ts';
import { openProgress } from '../run/progress.ts';
import { dateText } from './board-job.ts';
import { withFailure } from './row-order.ts';

export interface HistoryFlags {
  readonly names: readonly string[];
  readonly period: BoardPeriod;
  readonly since: Instant;
  readonly until: Instant | undefined;
  readonly every: number;
  readonly summary: boolean;
  readonly limit: number | undefined;
  readonly resume: boolean;
  readonly fresh: boolean;
}

/** More snapshots than this would not fit into memory. */
const MOST_TIMES = 10_000;
/** The disk space that is reserved for a snapshot in the journal. */
const BOARD_BYTES = 64 * 1024;

/** A history and what was read of it: by this run, or by the one that it resumes. */
interface History {
  readonly stretch: BoardTimes;
  readonly boards: Map<number, Sent | null>;
  readonly rows: Rows<Snapshot>;
  /** The same rows, if the output can be resumed. */
  readonly journal: ExportJournal<Snapshot> | undefined;
}

/**
 * Reads the snapshots of a stretch. With --out, a journal has those that were paid for until the
 * file is complete.
 */
export async function runHistory(context: Context, flags: HistoryFlags): Promise<ExitCode> {
  const { terminal, settings } = context;
  const { out, dryRun } = settings.flags;
  const destination = destinationOf(out, flags);
  if (destination === undefined)
    return await runJob(historyJob(context, flags, await begun(context, flags)), context);
  if (destination.start === 'resume' && isFinished(destination.out)) {
    const why = 'there is no interrupted export to it';
    terminal.notice(`${out} is finished: ${why}; nothing was requested (--fresh starts over)`);
    return 0;
  }
  if (dryRun) {
    const history = await rehearsed(context, flags, destination);
    return await runJob(historyJob(context, flags, history), context);
  }
  return await exportHistory(context, flags, destination);
}

const begun = async (context: Context, flags: HistoryFlags): Promise<History> => ({
  stretch: await timesOf(context, flags),
  boards: new Map(),
  rows: new MemoryRows(MOST_TIMES),
  journal: undefined,
});

async function exportHistory(
  context: Context,
  flags: HistoryFlags,
  destination: Destination,
): Promise<ExitCode> {
  return await withExport(
    context,
    identityOf(flags),
    destination,
    readSnapshot,
    async (journal) => {
      const history = await resumed(context, flags, journal);
      const { stretch, boards } = history;
      const lost = journal.giveUp(cu.launchpad);
      reportResumption(
        context.terminal,
        destination,
        boards.size > 0 ? `${progressText(boards.size, stretch)} read` : undefined,
        lost > 0
          ? `a snapshot in flight (up to ${unitsText(cu.launchpad)}); requesting it`
          : undefined,
      );
      return await runJob(historyJob(context, flags, history), context);
    },
  );
}

/** What a run would find in the journal that it would resume. Nothing is changed. */
async function rehearsed(
  context: Context,
  flags: HistoryFlags,
  destination: Destination,
): Promise<History> {
  const journal = await rehearseExport(context, identityOf(flags), destination, readSnapshot);
  return await (journal ? resumed(context, flags, journal) : begun(context, flags));
}

const identityOf = ({ period, since, until, every }: HistoryFlags): ExportIdentity => ({
  texts: ['launchpad history', JSON.stringify({ period, since, until, every })],
  size: MOST_TIMES,
  noun: 'the period, --since, --until or --every',
});

/**
 * The history of a journal. Its first answer fixes the times, because an age such as 7d would now
 * mean others.
 */
async function resumed(
  context: Context,
  flags: HistoryFlags,
  journal: ExportJournal<Snapshot>,
): Promise<History> {
  const boards = new Map<number, Sent | null>();
  let stretch: BoardTimes | undefined;
  for (let row = 0; row < journal.states.size; row++) {
    const snapshot = journal.read(row);
    if (snapshot === undefined) continue;
    const { since, until, board } = snapshot;
    stretch = { since, until, every: flags.every };
    boards.set(row, board);
  }
  return { stretch: stretch ?? (await timesOf(context, flags)), boards, rows: journal, journal };
}

/** How many snapshots of a history are read: `3 snapshots of at most 12`. */
const progressText = (read: number, stretch: BoardTimes): string =>
  `${countText(read, 'snapshot')} of at most ${group(countTimes(stretch))}`;

/**
 * Ages count by the clock of the service, because the one of this machine may be hours off. Nothing
 * is sent for a dry run.
 */
async function timesOf(
  context: Context,
  { since, until, every }: HistoryFlags,
): Promise<BoardTimes> {
  const { terminal, settings } = context;
  const clock = settings.flags.dryRun ? terminal.io.clock : await serviceClock(context);
  const now = clock.now();
  const from = instantAt(since, now, settings.utc);
  const to = until === undefined ? now : Math.min(now, instantAt(until, now, settings.utc));
  if (from >= to)
    throw usageError(
      to === now ? '--since must be in the past' : '--since must be earlier than --until',
      'pass an earlier time to --since, such as --since 30d',
    );
  const stretch = { since: from, until: to, every };
  const count = countTimes(stretch);
  if (count > MOST_TIMES)
    throw usageError(
      `--every asks for ${group(count)} snapshots, more than ${group(MOST_TIMES)}`,
      'pass a longer --every, or a later --since',
    );
  return stretch;
}

/** Counts what is printed. Names that no snapshot has end the run like lookups that find nobody. */
class HistoryTally extends RowTally {
  isNobody = false;

  override exit(): ExitCode {
    return this.isNobody ? 3 : 0;
  }
}

function historyJob(context: Context, flags: HistoryFlags, history: History): CommandJob {
  const { format, flags: common } = context.settings;
  const isTable = (format === 'table' || format === 'markdown') && common.fields === undefined;
  const tally =
    isTable || flags.summary ? new HistoryTally('trader') : new HistoryTally('entry', 'entries');
  return {
    plan: historyPlan(flags, history),
    view: flags.summary ? traderRecordView : historyView,
    tally,
    async print() {
      const error = await readSnapshots(context, flags, history);
      if (error !== undefined && history.boards.size === 0) throw error;
      const boards = distinctBoards(history.boards);
      const { wallets, unknown } = tradersNamed(flags.names, boards);
      const named = flags.names.length === 0 ? undefined : wallets;
      tally.isNobody = named?.size === 0;
      const traders = tradersIn(boards, named).slice(0, flags.limit);
      const show = <T extends object>(view: View<T>, rows: Iterable<T>) =>
        deliver(context, history, view, tally.counting(rows), error);
      try {
        if (isTable) await show(traderHistoryView, traders);
        else if (flags.summary)
          await show(
            traderRecordView,
            traders.map((trader) => traderRecord(trader, boards)),
          );
        else {
          const best =
            flags.limit === undefined
              ? named
              : new Set(traders.flatMap((trader) => walletKey(trader) ?? []));
          await show(historyView, rowsIn(boards, best));
        }
      } finally {
        // Below a long table, the summary is still on the screen.
        report(context, history, boards, unknown);
      }
    },
  };
}

/** An upper bound: times that an earlier answer covers are not requested. */
function historyPlan({ period }: HistoryFlags, { stretch, boards }: History): Plan {
  const times = [...timesToRead(stretch, boards)];
  return {
    calls: times.map(({ at }, index) => ({ ...boardCall(period, at), isSure: index === 0 })),
    costs: (cost) => `Reading up to ${countText(times.length, 'snapshot')} will cost ${cost}`,
  };
}

/**
 * Reads what is not read yet, newest first. Returns the error that ended it early: what came before
 * it was paid for.
 */
async function readSnapshots(
  context: Context,
  { period }: HistoryFlags,
  { stretch, boards, rows }: History,
): Promise<unknown> {
  const { signal, io } = context.terminal;
  const { since, until } = stretch;
  const needs = { clock: io.clock, signal, rowBytes: BOARD_BYTES };
  const progress = await openProgress(context);
  const count = countTimes(stretch);
  try {
    for (const time of timesToRead(stretch, boards)) {
      const row = time.position;
      progress.show('reading', count - 1 - row, count);
      const asked = await askRows(rows, [row], needs, async () => {
        const board = await requestBoard(context, period, time);
        return { values: [{ row, value: { since, until, board } }] };
      });
      if (asked.kind !== 'answered') return asked.error;
      for (const { value } of asked.values) boards.set(row, value.board);
    }
    return undefined;
  } catch (error) {
    return error;
  } finally {
    progress.stop();
  }
}

/** Null if the service has no snapshot for this time. */
async function requestBoard(
  { service }: Context,
  period: BoardPeriod,
  { at }: SnapshotTime,
): Promise<Sent | null> {
  try {
    const { id, ask } = boardCall(period, at);
    return (await service.call(id, ask)).record;
  } catch (error) {
    if (error instanceof Failure && error.kind === 'missing') return null;
    throw error;
  }
}

/** Says what was read, and what the service does not have. */
function report(
  { terminal }: Context,
  { stretch, boards }: History,
  read: readonly Sent[],
  unknown: readonly string[],
): void {
  const count = countTimes(stretch);
  const timeAt = (position: number) =>
    dateText(stretch.until - (count - 1 - position) * stretch.every) ?? '';
  const first = dateText(read[0]?.['capturedAt']);
  const last = dateText(read.at(-1)?.['capturedAt']);
  if (first !== undefined && last !== undefined)
    terminal.tell(`${countText(read.length, 'snapshot')}, from ${first} to ${last}`);
  const missing = [...boards].filter(([, board]) => board === null).map(([at]) => timeAt(at));
  if (missing.length > 0) terminal.notice(`no snapshot on record for ${namesText(missing)}`);
  const [before] = [...boards].find(([, board]) => board !== null && !isOnRecord(board)) ?? [];
  if (before !== undefined) {
    const many = `${group(before + 1)} of ${group(count)} times have none`;
    terminal.notice(`no snapshot on record at or before ${timeAt(before)}: ${many}`);
  }
  if (unknown.length > 0 && read.length > 0)
    terminal.notice(`not on the leaderboard in any of these snapshots: ${namesText(unknown)}`);
}

/**
 * Prints the rows, or replaces the file with them. Throws the error that ended the reading, with
 * how to continue.
 */
async function deliver<T>(
  context: Context,
  { stretch, boards, journal }: History,
  view: View<T>,
  rows: AsyncIterable<T>,
  error: unknown,
): Promise<void> {
  const { terminal, settings, out } = context;
  if (journal === undefined) {
    const [next] = timesToRead(stretch, boards);
    const changes = { '--since': isoText(stretch.since), '--until': isoText(next?.at ?? 0) };
    await out.print(
      view,
      withFailure(
        rows,
        error &&
          hintToContinue(error, () => continueList(terminal.io, settings.flags.out, changes)),
      ),
    );
    return;
  }
  const isWhole = error === undefined;
  // A file that lacks snapshots replaces the previous one only if the user limited the run.
  const isDelivered = isWhole || isSpent(error);
  if (isDelivered) await journal.deliver(textsOf(context, view, false, rows), !isWhole);
  if (isWhole) return;
  const read = progressText(boards.size, stretch);
  const are = boards.size === 1 ? 'is' : 'are';
  const where = isDelivered ? settings.flags.out : journal.path;
  terminal.notice(`${read} ${are} in ${where}; rerun with --resume for the rest`);
  throw error;
}

const isoText = (ms: number): string => new Date(ms).toISOString();
