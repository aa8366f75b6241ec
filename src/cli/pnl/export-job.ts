import { Failure } from '../../base/failure.ts';
import { group, unitsText } from '../../base/units.ts';
import { cu } from '../../contract/limits.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import { failedRecord } from '../../core/lookup/lookup.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import { handlesText } from '../../core/pnl/planned-calls.ts';
import { readRecord } from '../../input/earlier/pnl-export.ts';
import type { ExportJournal } from '../../state/export-journal/journal.ts';
import type { ExitCode } from '../exit.ts';
import { isSpent, LookupTally, reportSkipped } from '../lookup/tally.ts';
import type { Context } from '../run/context.ts';
import {
  confirmReplacement,
  type Destination,
  isResuming,
  openExport,
  textsOf,
} from '../run/destination.ts';
import { printDryRun } from '../run/dry-run.ts';
import { type CommandJob, runJob } from '../run/job.ts';
import { openProgress } from '../run/progress.ts';
import { exported, identityOf } from './export-file.ts';
import { noticeKnownUsers } from './former-names.ts';
import { NumbersRun, type NumbersTask } from './numbers-run.ts';
import { present, type Shape } from './present.ts';
import { JournalProgress, MemoryProgress } from './progress.ts';
import { outcomeOf } from './record-outcome.ts';

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
  const { subjects } = task.targets;
  if (context.settings.flags.dryRun) {
    // The journal is not changed, not even by what is cached.
    const progress = new MemoryProgress(subjects);
    for (const subject of await exported(context, subjects, destination))
      await progress.found([{ subject }]);
    const run = await NumbersRun.prepare(context, task, progress);
    await printDryRun(context, run.plan.calls);
    return 0;
  }
  if (destination.start === 'ask') await confirmReplacement(context.terminal, destination.out);
  const journal = await openExport(context, identityOf(subjects), destination);
  try {
    await reportResumption(context, journal, destination, subjects.length);
    const progress = new JournalProgress(journal, subjects);
    const run = await NumbersRun.prepare(context, task, progress);
    return await runJob(
      exportJob(context, run, journal, task, destination, shape, isStrict),
      context,
    );
  } finally {
    journal.close();
  }
}

/**
 * Gives up what the last run had in flight when it died: it may have been charged, and is requested
 * again.
 */
async function reportResumption(
  { terminal }: Context,
  journal: ExportJournal,
  destination: Destination,
  size: number,
): Promise<void> {
  let lost = 0;
  for (const [batch, { length }] of journal.openBatches) {
    // The ledger has the maximum cost already.
    await journal.lost(batch, length * cu.reveal);
    lost += length;
  }
  if (journal.resumed)
    terminal.notice(
      `resuming ${destination.out}: ${group(journal.answers)} of ${handlesText(size)} done`,
    );
  else if (isResuming(destination) && terminal.io.stderr.isTTY)
    terminal.notice(`no interrupted export to ${destination.out}; starting a new one`);
  if (lost > 0)
    terminal.notice(
      `the last run died with ${handlesText(lost)} in flight (up to ${unitsText(lost * cu.reveal)}); requesting the lost numbers again`,
    );
}

function exportJob(
  context: Context,
  run: NumbersRun,
  journal: ExportJournal,
  { targets }: NumbersTask,
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
      const requested = await request(context, run);
      await reportEnd(context, run, journal, requested);
      await noticeKnownUsers(context, run.missing);
      const isWhole =
        requested.error === undefined && run.lost.length === 0 && run.unfound.size === 0;
      const records = recordsOf(journal, requested.failures, tally, targets.subjects);
      const isDelivered = isWhole || mayReplace(journal, requested.error);
      if (isDelivered) await deliver(context, journal, records, shape, isWhole);
      // The receipt counts the records that were not delivered, too.
      else for await (const _ of records);
      if (!isWhole && journal.answers > 0) {
        const wrote = `wrote ${group(journal.answers)} of ${handlesText(targets.subjects.length)}`;
        context.terminal.notice(
          `${wrote} to ${isDelivered ? out : journal.path}; rerun with --resume for the rest`,
        );
      }
      if (requested.error !== undefined) throw requested.error;
      const [lost = run.unfound.values().next().value] = run.lost;
      if (lost?.failure) throw lost.failure;
    },
  };
}

/** How the requests of an export ended. */
interface Requested {
  /** The failures of subjects. Those without one are in the journal. */
  readonly failures: ReadonlyMap<Subject, Failure>;
  /** What ended the requests early. */
  readonly error: unknown;
}

async function request(context: Context, run: NumbersRun): Promise<Requested> {
  const failures = new Map<Subject, Failure>();
  for (const { subject, failure } of run.unfound.values())
    if (failure) failures.set(subject, failure);
  const progress = await openProgress(context);
  const size = run.size;
  let done = 0;
  try {
    for await (const results of run.results()) {
      for (const { subject, failure } of results) if (failure) failures.set(subject, failure);
      done += results.length;
      progress.show('requesting', done, size);
    }
    return { failures, error: undefined };
  } catch (error) {
    return { failures, error };
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
  journal: ExportJournal,
  { error }: Requested,
): Promise<void> {
  run.reportLost();
  if (!(error instanceof Failure)) return;
  const left = run.left.map(({ text }) => text);
  const hasAnswers = journal.answers > 0;
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
const mayReplace = (journal: ExportJournal, error: unknown): boolean =>
  journal.answers > 0 && (error === undefined || isSpent(error));

async function deliver(
  context: Context,
  journal: ExportJournal,
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

/**
 * The records of the file: the answers in the journal, and a failure for each subject that failed.
 */
async function* recordsOf(
  journal: ExportJournal,
  failures: ReadonlyMap<Subject, Failure>,
  tally: LookupTally,
  subjects: readonly Subject[],
): AsyncGenerator<PnlRecord, void, void> {
  for (const { position, value, held } of journal.values()) {
    const subject = subjects[position];
    const failure = subject && failures.get(subject);
    if (!held && failure) {
      tally.add({ found: null, failure });
      yield failedRecord(subject.text, failure);
    }
    if (!held) continue;
    const record = readRecord(value);
    if (!record)
      throw new Failure(
        'local',
        `the journal ${journal.path} contains no record for handle number ${position + 1}`,
        {
          code: 'JOURNAL_DAMAGED',
          hint: 'restore the journal from a backup, or move it away to start over and pay again',
        },
      );
    tally.add(outcomeOf(record));
    yield record;
  }
}
