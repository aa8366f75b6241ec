import { Failure, usageError } from '../../base/failure.ts';
import { realPath, statsOf } from '../../base/files.ts';
import { textOf } from '../../base/json-object.ts';
import { normalHandle } from '../../contract/handles.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import type { ExportJournal } from '../../state/export-journal/journal.ts';
import { agree } from '../prompt.ts';
import type { Context } from '../run/context.ts';
import type { Terminal } from '../run/terminal.ts';
import { readExport } from './from/read-export.ts';
import { handlesText } from './plan.ts';

/** Where an export is written, and whether it resumes another one or replaces it. */
export interface Destination {
  readonly out: string;
  readonly resume: boolean;
  readonly fresh: boolean;
}

/** Opens the journal of an export, and locks its file. */
export async function openExport(
  context: Context,
  subjects: readonly Subject[],
  { out, resume, fresh }: Destination,
): Promise<ExportJournal> {
  const { openJournal } = await import('../../state/export-journal/open-journal.ts');
  const texts = subjects.map(({ text }) => text);
  const service = context.service.scope?.baseUrl ?? null;
  try {
    return await openJournal(out, texts, service, { resume, fresh });
  } catch (error) {
    // With both flags, a nightly export must not stop for good after its list was edited.
    if (!resume || !fresh || !isOtherExport(error)) throw error;
    context.terminal.notice(`${error.message}; starting over`);
    return await openJournal(out, texts, service, { resume: false, fresh });
  }
}

/** The subjects with an answer in the journal that a run would resume. Nothing is changed. */
export async function exported(
  context: Context,
  subjects: readonly Subject[],
  { out, resume, fresh }: Destination,
): Promise<readonly Subject[]> {
  if (!resume || !hasJournal(out)) return [];
  try {
    const journal = await openExport(context, subjects, { out, resume, fresh: false });
    const open = new Set([...[...journal.openBatches.values()].flat(), ...journal.free()]);
    journal.close();
    return subjects.filter((_, position) => !open.has(position));
  } catch (error) {
    // With --fresh, the run would start over if the journal belongs to another export.
    if (fresh && isOtherExport(error)) return [];
    throw error;
  }
}

/** Whether a journal was rejected because it belongs to an export of other handles or of another service. */
const isOtherExport = (error: unknown): error is Failure =>
  error instanceof Failure && error.code === 'JOURNAL_OTHER';

/** The journal is next to the real file, even if the path is a symbolic link. */
const hasJournal = (out: string): boolean => statsOf(`${realPath(out)}.journal`) !== undefined;

/** Throws at a file that lacks handles or cannot be read, because replacing it by mistake would lose paid answers. */
export async function isFinished(
  { io, notice }: Pick<Terminal, 'io' | 'notice'>,
  out: string,
  subjects: readonly Subject[],
): Promise<boolean> {
  if (statsOf(out)?.isFile() !== true || hasJournal(out)) return false;
  const startOver = 'add --fresh to start over and replace it, or use a different file';
  const names = new Set<string>();
  try {
    for await (const record of readExport(out, io)) {
      names.add(normalHandle(record.subject));
      if (record.found === true) names.add(normalHandle(textOf(record['handle']) ?? ''));
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw usageError(
      `${out} is not an interrupted export, and its handles cannot be read`,
      startOver,
    );
  }
  const lacking = subjects.filter(
    ({ text, value }) => !names.has(normalHandle(text)) && !names.has(normalHandle(value)),
  ).length;
  if (lacking > 0) {
    throw usageError(
      `${out} is finished, but does not contain ${handlesText(lacking)} of this run`,
      startOver,
    );
  }
  notice(
    `${out} is finished: it contains all ${handlesText(subjects.length)}; nothing was requested (--fresh starts over)`,
  );
  return true;
}

/** Asks before a run without --resume and --fresh replaces a file, which may contain paid answers. */
export async function confirmReplacement(
  { io, signal }: Pick<Terminal, 'io' | 'signal'>,
  out: string,
): Promise<void> {
  const stats = statsOf(out);
  if (!stats?.isFile() || stats.size === 0 || hasJournal(out)) return;
  const hint =
    'add --fresh to replace it, --resume to keep it if it is finished, or use a different file';
  const message = `${out} already exists`;
  const kept = { message: `cancelled; ${out} was not changed`, hint };
  await agree(io, `${message}. Replace it?`, signal, { message, hint }, kept);
}
