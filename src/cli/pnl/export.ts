import { Failure } from '../../base/failure.ts';
import { group, unitsText } from '../../base/units.ts';
import { cu } from '../../contract/prices.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import { failedRecord } from '../../core/lookup/lookup.ts';
import type { SavedNumbers } from '../../core/pnl/cached-numbers.ts';
import { answerFromJournal, isRejected, type PnlResult } from '../../core/pnl/request-batch.ts';
import type { Targets } from '../../core/pnl/targets.ts';
import type { View } from '../../output/view.ts';
import type { ExportJournal } from '../../state/export-journal/journal.ts';
import type { Context } from '../context.ts';
import type { ExitCode } from '../exit.ts';
import { isSpent, reportSkipped } from '../lookup/skipped.ts';
import { LookupTally } from '../lookup/tally.ts';
import { createTextPrinter } from '../output/output.ts';
import { openProgress } from '../output/progress.ts';
import { handlesText } from '../spend/preflight.ts';
import { beginRun, type Held, reportLost } from './begin-run.ts';
import { outcomeOf, readRecord } from './from/read-export.ts';
import { present, type Shape } from './present.ts';

interface ExportOptions {
  readonly out: string;
  readonly resume: boolean;
  readonly fresh?: boolean | undefined;
  readonly shape: Shape;
  readonly strict: boolean;
  readonly saved: SavedNumbers | undefined;
}

export async function openExport(
  context: Context,
  subjects: readonly string[],
  { out, resume, fresh }: Pick<ExportOptions, 'out' | 'resume' | 'fresh'>,
): Promise<ExportJournal> {
  const { openJournal } = await import('../../state/export-journal/open-journal.ts');
  const open = (how: { readonly resume: boolean; readonly fresh?: boolean | undefined }) =>
    openJournal(out, subjects, context.scope?.baseUrl ?? null, how);
  try {
    return await open({ resume, fresh });
  } catch (error) {
    // With both flags, a nightly export must not stop for good after its list was edited.
    if (!resume || !fresh || !isOtherExport(error)) throw error;
    context.notice(`${error.message}; starting over`);
    return await open({ resume: false, fresh });
  }
}

/** Whether a journal was rejected because it belongs to an export of other handles or of another service. */
export const isOtherExport = (error: unknown): error is Failure =>
  error instanceof Failure && error.code === 'JOURNAL_OTHER';

export async function exportPnl(
  context: Context,
  targets: Targets,
  options: ExportOptions,
): Promise<ExitCode> {
  const journal = await openExport(context, targets.texts, options);
  try {
    return await exportBy(journal, context, targets, options);
  } finally {
    journal.close();
  }
}

async function exportBy(
  journal: ExportJournal,
  context: Context,
  targets: Targets,
  { out, resume, shape, strict, saved }: ExportOptions,
): Promise<ExitCode> {
  const { texts: subjects } = targets;
  const lostBefore = await settleLostBatches(journal);
  if (journal.resumed) {
    context.notice(`resuming ${out}: ${group(journal.answers)} of ${handlesText(subjects.length)} done`);
  } else if (resume && context.io.stderr.isTTY) {
    context.notice(`no interrupted export to ${out}; starting a new one`);
  }
  if (lostBefore > 0)
    context.notice(
      `the last run died with ${handlesText(lostBefore)} in flight (up to ${unitsText(lostBefore * cu.reveal)}); requesting the lost numbers again`,
    );
  const held: Held = {
    todo: () => journal.free(),
    async fill() {
      const read = await readSavedAnswers(journal, targets);
      if (read > 0)
        context.notice(
          `recovered ${handlesText(read)} from saved answers that an earlier run could not parse`,
        );
      await fillFromCache(journal, saved, targets);
    },
    async keep(results) {
      await journal.found(
        results.filter(isFinal).map(({ position, record }) => ({ position, value: record })),
      );
      return results.filter((result) => !isFinal(result));
    },
  };
  const { run, todo, unfound } = await beginRun(context, targets, held, saved, { log: journal });
  const failures = new Map(unfound.map(({ position, failure }) => [position, failure]));
  const progress = await openProgress(context);
  let done = 0;
  let failure: { readonly error: unknown } | undefined;
  try {
    for await (const results of run?.results() ?? []) {
      for (const result of results) failures.set(result.position, result.failure);
      done += results.length;
      progress.show('requesting', done, todo.length);
    }
  } catch (error) {
    failure = { error };
  } finally {
    progress.stop();
  }
  const left = run?.left().map((position) => subjects[position] ?? '') ?? [];
  const lost = run?.lost ?? [];
  const whole = failure === undefined && lost.length === 0 && unfound.length === 0;
  const answered = journal.answers;
  // Deliver an incomplete file only if all handles were requested or a limit was reached. Otherwise, keep the previous file.
  const delivers = whole || (answered > 0 && (failure === undefined || isSpent(failure.error)));
  if (run) reportLost(context, run, targets);
  if (failure?.error instanceof Failure) {
    if (left.length > 0 && answered > 0) await journal.leave(failure.error.code, left).catch(() => {});
    reportSkipped(context, left, handlesText(left.length), answered > 0 ? journal.path : undefined);
  }
  const tally = new LookupTally();
  context.setOutcome(tally);
  const records = recordsOf(journal, failures, tally, subjects);
  if (delivers) {
    const { comparison } = shape;
    const partial =
      comparison && !whole ? { ...shape, comparison: { ...comparison, isPartial: true } } : shape;
    await present(records, partial, async (view, single, items) => {
      await journal.deliver(pnlText(context, view, single, items), !whole);
    });
  } else {
    // Count the records for the receipt.
    for await (const _ of records);
  }
  if (!whole && answered > 0) {
    const wrote = `wrote ${group(answered)} of ${handlesText(subjects.length)}`;
    context.notice(`${wrote} to ${delivers ? out : journal.path}; rerun with --resume for the rest`);
  }
  if (failure) throw failure.error;
  const [firstLost = unfound[0]] = lost;
  if (firstLost?.failure) throw firstLost.failure;
  return tally.exit(strict);
}

/** The maximum number of cached answers in one write to the journal. */
const CACHED_ROWS = 100;

/** Writes the cached answers to the journal, so that the export no longer depends on the cache. */
async function fillFromCache(
  journal: ExportJournal,
  saved: SavedNumbers | undefined,
  { texts, handleAt }: Targets,
): Promise<void> {
  if (!saved) return;
  let rows: { readonly position: number; readonly value: PnlRecord }[] = [];
  for (const position of journal.free()) {
    const handle = handleAt(position);
    const value = handle === undefined ? undefined : await saved.find(handle, texts[position]);
    if (value) rows.push({ position, value });
    if (rows.length < CACHED_ROWS) continue;
    await journal.found(rows);
    rows = [];
  }
  if (rows.length > 0) await journal.found(rows);
}

/** Whether a lookup found no user or was rejected by the service. A run with --resume repeats all other failures. */
const isFinal = ({ failure }: PnlResult) => failure === undefined || isRejected(failure);

/** The records of the file: the answers in the journal, and a failure for each subject that failed. */
async function* recordsOf(
  journal: ExportJournal,
  failures: ReadonlyMap<number, Failure | undefined>,
  tally: LookupTally,
  subjects: readonly string[],
): AsyncGenerator<PnlRecord> {
  for (const { position, value, held } of journal.values()) {
    const failure = failures.get(position);
    if (!held && failure) {
      tally.add({ found: null, failure });
      yield failedRecord(subjects[position] ?? '', failure);
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

/** They may have been charged, even if the usage of the key does not show it. The ledger has their maximum cost already. */
async function settleLostBatches(journal: ExportJournal): Promise<number> {
  let handles = 0;
  for (const [batch, { length }] of journal.openBatches) {
    await journal.lost(batch, length * cu.reveal);
    handles += length;
  }
  return handles;
}

/** A newer version may parse what an earlier one could not. Returns the number of handles that need not be paid for again. */
async function readSavedAnswers(journal: ExportJournal, { texts, handleAt }: Targets): Promise<number> {
  let handles = 0;
  for (const { positions, answer } of journal.unread()) {
    const subjectAt = (position = 0) => texts[position] ?? '';
    const asked = positions.map((position) => handleAt(position) ?? subjectAt(position));
    const rows = answerFromJournal(asked, answer).flatMap(({ record, failure }, place) =>
      failure
        ? []
        : [{ position: positions[place] ?? 0, value: { ...record, subject: subjectAt(positions[place]) } }],
    );
    await journal.found(rows);
    handles += rows.length;
  }
  return handles;
}

const PIECE = 64 * 1024;

async function* pnlText<T>(
  context: Context,
  view: View<T>,
  single: boolean,
  items: AsyncIterable<T>,
): AsyncGenerator<string> {
  const printer = await createTextPrinter(context, view, { format: context.format, single });
  for await (const item of items) {
    await printer.write(item);
    if (printer.size >= PIECE) yield printer.take().toString('utf8');
  }
  await printer.end();
  yield printer.take().toString('utf8');
}
