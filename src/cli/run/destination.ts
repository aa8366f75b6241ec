import { Failure, usageError } from '../../base/failure.ts';
import { realPath, statsOf } from '../../base/files.ts';
import type { View } from '../../output/view.ts';
import type { ExportJournal, ParseValue } from '../../state/export-journal/journal.ts';
import type { BegunJournal, ExportIdentity } from '../../state/export-journal/open-journal.ts';
import type { ExitCode } from '../exit.ts';
import { agree } from '../prompt.ts';
import type { Context } from './context.ts';
import { createTextPrinter } from './open-printer.ts';
import type { Terminal } from './terminal.ts';

/** What an export does with what an earlier run has left at its path. */
export type ExportStart =
  // Replaces a file after a question, and fails at an interrupted export.
  | 'ask'
  // Continues an interrupted export, and keeps a finished one.
  | 'resume'
  // Replaces whatever is there.
  | 'replace'
  // Continues, unless the interrupted export has another input: a nightly run must not stop for
  // good after its list was edited.
  | 'resume-or-replace';

/** Where an export is written, and how it starts. */
export interface Destination {
  readonly out: string;
  readonly start: ExportStart;
}

/** The flags of an export that decide how it starts. */
interface StartFlags {
  readonly resume: boolean;
  readonly fresh: boolean;
}

function startOf({ resume, fresh }: StartFlags): ExportStart {
  if (resume) return fresh ? 'resume-or-replace' : 'resume';
  return fresh ? 'replace' : 'ask';
}

/**
 * Where an export is written; undefined if its records are printed as they come, also to a pipe or
 * a device.
 */
export function destinationOf(out: string | undefined, flags: StartFlags): Destination | undefined {
  const start = startOf(flags);
  if (out !== undefined) return start === 'ask' && isDevice(out) ? undefined : { out, start };
  if (start === 'ask') return undefined;
  throw usageError(
    `${flags.resume ? '--resume' : '--fresh'} requires --out`,
    'add the file of the export: --out FILE',
  );
}

/** Whether an export continues an interrupted one, if there is one. */
const isResuming = ({ start }: Destination): boolean =>
  start === 'resume' || start === 'resume-or-replace';

/** What each start does with the journal of an interrupted export. */
const begunJournals: Readonly<Record<ExportStart, BegunJournal>> = {
  ask: 'refuse',
  resume: 'resume',
  replace: 'discard',
  'resume-or-replace': 'resume',
};

/** Opens the journal of an export, and locks its file. */
async function openExport<T>(
  context: Context,
  identity: ExportIdentity,
  { out, start }: Destination,
  parse: ParseValue<T>,
): Promise<ExportJournal<T>> {
  const { openJournal } = await import('../../state/export-journal/open-journal.ts');
  const service = context.service.scope?.baseUrl ?? null;
  try {
    return await openJournal(out, identity, service, begunJournals[start], parse);
  } catch (error) {
    if (start !== 'resume-or-replace' || !isOtherExport(error)) throw error;
    context.terminal.notice(`${error.message}; starting over`);
    return await openJournal(out, identity, service, 'discard', parse);
  }
}

/** Runs an export with its journal open around it. */
export async function withExport<T>(
  context: Context,
  identity: ExportIdentity,
  destination: Destination,
  parse: ParseValue<T>,
  run: (journal: ExportJournal<T>) => Promise<ExitCode>,
): Promise<ExitCode> {
  if (destination.start === 'ask') await confirmReplacement(context.terminal, destination.out);
  const journal = await openExport(context, identity, destination, parse);
  try {
    return await run(journal);
  } finally {
    journal.close();
  }
}

/** The journal that a run would resume, closed again; undefined if there is none. */
export async function rehearseExport<T>(
  context: Context,
  identity: ExportIdentity,
  destination: Destination,
  parse: ParseValue<T>,
): Promise<ExportJournal<T> | undefined> {
  const { out, start } = destination;
  if (!isResuming(destination) || !hasJournal(out)) return undefined;
  try {
    const journal = await openExport(context, identity, { out, start: 'resume' }, parse);
    journal.close();
    return journal;
  } catch (error) {
    if (start === 'resume-or-replace' && isOtherExport(error)) return undefined;
    throw error;
  }
}

/**
 * Says what an export continues: what is `done`, and what of the last run was `lost` when it died.
 */
export function reportResumption(
  { notice, tell }: Terminal,
  destination: Destination,
  done: string | undefined,
  lost: string | undefined,
): void {
  const { out } = destination;
  if (done !== undefined) notice(`resuming ${out}: ${done}`);
  else if (isResuming(destination)) tell(`no interrupted export to ${out}; starting a new one`);
  if (lost !== undefined) notice(`the last run died with ${lost} again`);
}

/**
 * Whether a journal was rejected because it belongs to another export, or to one of another
 * service.
 */
const isOtherExport = (error: unknown): error is Failure =>
  error instanceof Failure && error.code === 'JOURNAL_OTHER';

/** The journal is next to the real file, even if the path is a symbolic link. */
const hasJournal = (out: string): boolean => statsOf(`${realPath(out)}.journal`) !== undefined;

/** Whether a file is what an export has completed: it is not empty, and no journal is beside it. */
export const isFinished = (out: string): boolean => {
  const stats = statsOf(out);
  return stats?.isFile() === true && stats.size > 0 && !hasJournal(out);
};

/** Whether the output is a pipe or a device, which cannot be resumed. */
const isDevice = (out: string): boolean => {
  const there = statsOf(out);
  return there !== undefined && !there.isFile();
};

/**
 * Asks before a run without --resume and --fresh replaces a file, which may contain paid answers.
 */
async function confirmReplacement(
  { io, signal }: Pick<Terminal, 'io' | 'signal'>,
  out: string,
): Promise<void> {
  if (!isFinished(out)) return;
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
  const { printer, text } = await createTextPrinter(context, view, { format, single });
  for await (const item of items) {
    await printer.write(item);
    if (text.size >= PIECE) yield text.take().toString('utf8');
  }
  await printer.end();
  yield text.take().toString('utf8');
}
