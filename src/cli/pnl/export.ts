import { Failure, usageError } from '../../base/failure.ts';
import { realPath, statsOf } from '../../base/files.ts';
import { textOf } from '../../base/json-object.ts';
import { group, unitsText } from '../../base/units.ts';
import { normalHandle } from '../../contract/handles.ts';
import { cu } from '../../contract/limits.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import { failedRecord } from '../../core/lookup/lookup.ts';
import type { SavedNumbers } from '../../core/pnl/cached-numbers.ts';
import type { Targets } from '../../core/pnl/targets.ts';
import type { View } from '../../output/view.ts';
import type { ExportJournal } from '../../state/export-journal/journal.ts';
import type { ExitCode } from '../exit.ts';
import { isSpent, LookupTally, reportSkipped } from '../lookup/tally.ts';
import { createTextPrinter } from '../output/output.ts';
import { openProgress } from '../output/progress.ts';
import { agree } from '../output/prompt.ts';
import type { Context } from '../run/context.ts';
import type { Terminal } from '../run/terminal.ts';
import { outcomeOf, readExport, readRecord } from './from/read-export.ts';
import { handlesText } from './plan.ts';
import { present, type Shape } from './present.ts';
import { beginRun, reportLost } from './stream.ts';

/** Where an export is written, and whether it resumes another one or replaces it. */
interface Destination {
  readonly out: string;
  readonly resume: boolean;
  readonly fresh?: boolean | undefined;
}

async function openExport(
  context: Context,
  subjects: readonly string[],
  { out, resume, fresh }: Destination,
): Promise<ExportJournal> {
  const { openJournal } = await import('../../state/export-journal/open-journal.ts');
  const open = (how: Omit<Destination, 'out'>) =>
    openJournal(out, subjects, context.service.scope?.baseUrl ?? null, how);
  try {
    return await open({ resume, fresh });
  } catch (error) {
    // With both flags, a nightly export must not stop for good after its list was edited.
    if (!resume || !fresh || !isOtherExport(error)) throw error;
    context.terminal.notice(`${error.message}; starting over`);
    return await open({ resume: false, fresh });
  }
}

/** Whether a journal was rejected because it belongs to an export of other handles or of another service. */
const isOtherExport = (error: unknown): error is Failure =>
  error instanceof Failure && error.code === 'JOURNAL_OTHER';

/** The positions that a run has still to request, by the journal of the export that it would resume. */
export async function notExported(
  context: Context,
  subjects: readonly string[],
  { out, resume, fresh }: Destination,
): Promise<readonly number[]> {
  const all = [...subjects.keys()];
  if (!resume || !hasJournal(out)) return all;
  try {
    const journal = await openExport(context, subjects, { out, resume });
    const left = [...[...journal.openBatches.values()].flat(), ...journal.free()];
    journal.close();
    return left;
  } catch (error) {
    // With --fresh, the run would start over if the journal belongs to another export.
    if (fresh && isOtherExport(error)) return all;
    throw error;
  }
}

export async function exportPnl(
  context: Context,
  targets: Targets,
  saved: SavedNumbers | undefined,
  destination: Destination,
  shape: Shape,
  strict: boolean,
): Promise<ExitCode> {
  if (!destination.resume && !destination.fresh)
    await confirmReplacement(context.terminal, destination.out);
  const journal = await openExport(context, targets.texts, destination);
  try {
    return await exportBy(journal, context, targets, saved, destination, shape, strict);
  } finally {
    journal.close();
  }
}

async function exportBy(
  journal: ExportJournal,
  context: Context,
  targets: Targets,
  saved: SavedNumbers | undefined,
  { out, resume }: Destination,
  shape: Shape,
  strict: boolean,
): Promise<ExitCode> {
  const { texts: subjects } = targets;
  // They may have been charged, even if the usage of the key does not show it. The ledger has their maximum cost already.
  let lostBefore = 0;
  for (const [batch, { length }] of journal.openBatches) {
    await journal.lost(batch, length * cu.reveal);
    lostBefore += length;
  }
  if (journal.resumed) {
    context.terminal.notice(
      `resuming ${out}: ${group(journal.answers)} of ${handlesText(subjects.length)} done`,
    );
  } else if (resume && context.terminal.io.stderr.isTTY) {
    context.terminal.notice(`no interrupted export to ${out}; starting a new one`);
  }
  if (lostBefore > 0)
    context.terminal.notice(
      `the last run died with ${handlesText(lostBefore)} in flight (up to ${unitsText(lostBefore * cu.reveal)}); requesting the lost numbers again`,
    );
  const { run, todo, unfound } = await beginRun(context, targets, saved, journal);
  const failures = new Map([...unfound].map(([position, { failure }]) => [position, failure]));
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
  const whole = failure === undefined && lost.length === 0 && unfound.size === 0;
  const answered = journal.answers;
  // Deliver an incomplete file only if all handles were requested or a limit was reached. Otherwise, keep the previous file.
  const delivers = whole || (answered > 0 && (failure === undefined || isSpent(failure.error)));
  if (run) reportLost(context, run, targets);
  if (failure?.error instanceof Failure) {
    if (left.length > 0 && answered > 0)
      await journal.leave(failure.error.code, left).catch(() => {});
    reportSkipped(
      context.terminal,
      left,
      handlesText(left.length),
      answered > 0 ? journal.path : undefined,
    );
  }
  const tally = new LookupTally(strict);
  context.bill.outcome = tally;
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
    context.terminal.notice(
      `${wrote} to ${delivers ? out : journal.path}; rerun with --resume for the rest`,
    );
  }
  if (failure) throw failure.error;
  const [firstLost = unfound.values().next().value] = lost;
  if (firstLost?.failure) throw firstLost.failure;
  return tally.exit();
}

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

const PIECE = 64 * 1024;

async function* pnlText<T>(
  context: Context,
  view: View<T>,
  single: boolean,
  items: AsyncIterable<T>,
): AsyncGenerator<string> {
  const printer = await createTextPrinter(context, view, {
    format: context.settings.format,
    single,
  });
  for await (const item of items) {
    await printer.write(item);
    if (printer.size >= PIECE) yield printer.take().toString('utf8');
  }
  await printer.end();
  yield printer.take().toString('utf8');
}

/** The journal is next to the real file, even if the path is a symbolic link. */
const hasJournal = (out: string): boolean => statsOf(`${realPath(out)}.journal`) !== undefined;

/** Throws at a file that lacks handles or cannot be read, because replacing it by mistake would lose paid answers. */
export async function isFinished(
  context: Context,
  out: string,
  subjects: readonly string[],
): Promise<boolean> {
  if (statsOf(out)?.isFile() !== true || hasJournal(out)) return false;
  const startOver = 'add --fresh to start over and replace it, or use a different file';
  const there = new Set<string>();
  try {
    for await (const record of readExport(out, context.terminal.io)) {
      there.add(normalHandle(record.subject));
      if (record.found === true) there.add(normalHandle(textOf(record['handle']) ?? ''));
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw usageError(
      `${out} is not an interrupted export, and its handles cannot be read`,
      startOver,
    );
  }
  const lacking = subjects.filter((subject) => !there.has(normalHandle(subject))).length;
  if (lacking > 0) {
    throw usageError(
      `${out} is finished, but does not contain ${handlesText(lacking)} of this run`,
      startOver,
    );
  }
  context.terminal.notice(
    `${out} is finished: it contains all ${handlesText(subjects.length)}; nothing was requested (--fresh starts over)`,
  );
  return true;
}

/** Asks before a run without --resume and --fresh replaces a file, which may contain paid answers. */
async function confirmReplacement(
  { io, signal }: Pick<Terminal, 'io' | 'signal'>,
  out: string,
): Promise<void> {
  const found = statsOf(out);
  if (!found?.isFile() || found.size === 0 || hasJournal(out)) return;
  const hint =
    'add --fresh to replace it, --resume to keep it if it is finished, or use a different file';
  const message = `${out} already exists`;
  const kept = { message: `cancelled; ${out} was not changed`, hint };
  await agree(io, `${message}. Replace it?`, signal, { message, hint }, kept);
}
