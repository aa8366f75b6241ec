import { Failure } from '../../base/failure.ts';
import { realPath, statsOf } from '../../base/files.ts';
import type { View } from '../../output/view.ts';
import type { ExportJournal } from '../../state/export-journal/journal.ts';
import type { ExportIdentity } from '../../state/export-journal/open-journal.ts';
import { agree } from '../prompt.ts';
import type { Context } from './context.ts';
import { createTextPrinter } from './open-printer.ts';
import type { Terminal } from './terminal.ts';

/** Where an export is written, and whether it resumes another one or replaces it. */
export interface Destination {
  readonly out: string;
  readonly resume: boolean;
  readonly fresh: boolean;
}

/** Opens the journal of an export, and locks its file. */
export async function openExport(
  context: Context,
  identity: ExportIdentity,
  { out, resume, fresh }: Destination,
): Promise<ExportJournal> {
  const { openJournal } = await import('../../state/export-journal/open-journal.ts');
  const service = context.service.scope?.baseUrl ?? null;
  try {
    return await openJournal(out, identity, service, { resume, fresh });
  } catch (error) {
    // With both flags, a nightly export must not stop for good after its list was edited.
    if (!resume || !fresh || !isOtherExport(error)) throw error;
    context.terminal.notice(`${error.message}; starting over`);
    return await openJournal(out, identity, service, { resume: false, fresh });
  }
}

/**
 * Whether a journal was rejected because it belongs to another export, or to one of another
 * service.
 */
export const isOtherExport = (error: unknown): error is Failure =>
  error instanceof Failure && error.code === 'JOURNAL_OTHER';

/** The journal is next to the real file, even if the path is a symbolic link. */
export const hasJournal = (out: string): boolean =>
  statsOf(`${realPath(out)}.journal`) !== undefined;

/** Whether the output is a pipe or a device, which cannot be resumed. */
export const isDevice = (out: string): boolean => {
  const there = statsOf(out);
  return there !== undefined && !there.isFile();
};

/**
 * Asks before a run without --resume and --fresh replaces a file, which may contain paid answers.
 */
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

/** The text of a file is written in pieces of this size. */
const PIECE = 64 * 1024;

/** The text of a file that appears when it is complete. */
export async function* textsOf<T>(
  context: Context,
  view: View<T>,
  single: boolean,
  items: Iterable<T> | AsyncIterable<T>,
): AsyncGenerator<string, void, void> {
  const { format } = context.settings;
  const printer = await createTextPrinter(context, view, { format, single });
  for await (const item of items) {
    await printer.write(item);
    if (printer.size >= PIECE) yield printer.take().toString('utf8');
  }
  await printer.end();
  yield printer.take().toString('utf8');
}
