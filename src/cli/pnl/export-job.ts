import { Failure } from '../../base/failure.ts';
import { group, unitsText } from '../../base/units.ts';
import { cu } from '../../contract/limits.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import { handlesText } from '../../core/pnl/planned-calls.ts';
import { MemoryRows } from '../../core/rows/memory-rows.ts';
import { readRecord } from '../../input/earlier/pnl-export.ts';
import type { ExportJournal } from '../../state/export-journal/journal.ts';
import type { ExitCode } from '../exit.ts';
import { isSpent, LookupTally, reportSkipped } from '../lookup/tally.ts';
import type { Context } from '../run/context.ts';
import {
  type Destination,
  rehearseExport,
  reportResumption,
  textsOf,
  withExport,
} from '../run/destination.ts';
import { printDryRun } from '../run/dry-run.ts';
import { type CommandJob, runJob } from '../run/job.ts';
import { openProgress } from '../run/progress.ts';
import { identityOf } from './export-file.ts';
import { noticeKnownUsers } from './former-names.ts';
import { NumbersRun, type NumbersTask } from './numbers-run.ts';
import { present, type Shape } from './present.ts';
import { outcomeOf } from './record-outcome.ts';

type NumbersJournal = ExportJournal<PnlRecord>;

/**
 * Runs an export, with its journal open around it. Whether a file may be replaced is asked before
 * anything is planned: a plan reads, and with --resume continues, the journal of that file.
 */
export async function runExport(
  context: Context,
  task: NumbersTask,
  destination: Destination,
  shape: Shape,
  isStrict: boolean,
): Promise<ExitCode> {
  const { subjects } = task.handles;
  if (context.settings.flags.dryRun) {
    // The journal is not changed, not even by what is cached.
    const rows = new MemoryRows<PnlRecord>(subjects.length);
    const begun = await rehearseExport(context, identityOf(subjects), destination, readRecord);
    for (const row of begun ? subjects.keys() : [])
      if (begun?.states.of(row) === 'answered') rows.states.answer(row, 0);
    const run = await NumbersRun.prepare(context, task, rows);
    await printDryRun(context, run.plan.calls);
    return 0;
  }
  return await withExport(
    context,
    identityOf(subjects),
    destination,
    readRecord,
    async (journal) => {
      const lost = journal.giveUp(cu.reveal);
      reportResumption(
        context.terminal,
        destination,
        journal.resumed ? `${doneText(journal)} done` : undefined,
        lost > 0
          ? `${handlesText(lost)} in flight (up to ${unitsText(lost * cu.reveal)}); requesting the lost numbers`
          : undefined,
      );
      const run = await NumbersRun.prepare(context, task, journal);
      const job = exportJob(context, run, journal, task, destination, shape, isStrict);
      return await runJob(job, context);
    },
  );
}

/** How many answers a journal has: `200 of 350 handles`. */
const doneText = ({ states }: NumbersJournal): string =>
  `${group(states.count('answered'))} of ${handlesText(states.size)}`;

function exportJob(
  context: Context,
  run: NumbersRun,
  journal: NumbersJournal,
  { handles }: NumbersTask,
  { out }: Destination,
  shape: Shape,
  isStrict: boolean,
): CommandJob {
  const tally = new LookupTally(isStrict);
  return {
    plan: run.plan,
    tally,
    async print() {
      await run.lookUp();
      const error = await request(context, run);
      await reportEnd(context, run, journal, error);
      await noticeKnownUsers(context, run.missing, handles.subjects);
      const isWhole = error === undefined && run.lost.length === 0 && run.unfound.size === 0;
      const records = recordsOf(run, tally);
      const isDelivered = isWhole || mayReplace(journal, error);
      if (isDelivered) await deliver(context, journal, records, shape, isWhole);
      // The receipt counts the records that were not delivered, too.
      else for await (const _ of records);
      if (!isWhole && journal.states.count('answered') > 0)
        reportWritten(context, journal, isDelivered ? out : journal.path);
      if (error !== undefined) throw error;
      const [unfound] = run.unfound.values();
      const failure = run.lost[0]?.failure ?? unfound;
      if (failure) throw failure;
    },
  };
}

const reportWritten = ({ terminal }: Context, journal: NumbersJournal, path: string): void =>
  terminal.notice(`wrote ${doneText(journal)} to ${path}; rerun with --resume for the rest`);

/** Requests all numbers. Returns what ended the requests early. */
async function request(context: Context, run: NumbersRun): Promise<unknown> {
  const progress = await openProgress(context);
  const size = run.open;
  try {
    while (await run.step()) progress.show('requesting', size - run.open, size);
    return undefined;
  } catch (error) {
    return error;
  } finally {
    progress.stop();
  }
}

/**
 * Reports what was lost and what was skipped, and writes the latter into the journal, for people
 * who open it.
 */
async function reportEnd(
  { terminal }: Context,
  run: NumbersRun,
  journal: NumbersJournal,
  error: unknown,
): Promise<void> {
  run.reportLost();
  if (!(error instanceof Failure)) return;
  const { left } = run;
  const hasAnswers = journal.states.count('answered') > 0;
  if (left.length > 0 && hasAnswers) await journal.leave(error.code, left).catch(() => {});
  reportSkipped(
    terminal.notice,
    left,
    handlesText(left.length),
    hasAnswers ? journal.path : undefined,
  );
}

/**
 * An incomplete file replaces the previous one only if all handles were requested, or a limit was
 * reached.
 */
const mayReplace = (journal: NumbersJournal, error: unknown): boolean =>
  journal.states.count('answered') > 0 && (error === undefined || isSpent(error));

async function deliver(
  context: Context,
  journal: NumbersJournal,
  records: AsyncIterable<PnlRecord>,
  shape: Shape,
  isWhole: boolean,
): Promise<void> {
  const { comparison } = shape;
  const isPartial = comparison !== undefined && !isWhole;
  const shown = isPartial ? { ...shape, comparison: { ...comparison, isPartial } } : shape;
  await present(records, shown, (view, single, items) =>
    journal.deliver(textsOf(context, view, single, items), !isWhole),
  );
}

/** The records of the file: the answers in the journal, and a failure for each row that failed. */
async function* recordsOf(
  run: NumbersRun,
  tally: LookupTally,
): AsyncGenerator<PnlRecord, void, void> {
  for await (const { value, failure } of run.resultsSoFar()) {
    tally.add(failure && value.found === null ? { found: null, failure } : outcomeOf(value));
    yield value;
  }
}
