import { dirname } from 'node:path';
import { checkFolder } from '../../base/check-folder.ts';
import { usageError } from '../../base/failure.ts';
import { inWords, realPath, statsOf } from '../../base/files.ts';
import { holdLock } from '../../base/lock.ts';
import { writeAtomic } from '../../base/replace-file.ts';
import { sha256 } from '../../base/sha256.ts';
import { type ExportJournal, journalOn, resumeHint } from './journal.ts';
import { openJournalFile } from './journal-file.ts';
import { journalIndex } from './journal-index.ts';
import { JOURNAL_VERSION, type JournalLine, writeLine } from './journal-lines.ts';
import { loadJournal } from './journal-load.ts';
import { checkSameExport, type JournalIdentity } from './same-export.ts';

export type { ExportJournal } from './journal.ts';

/** The options for opening a journal. */
export interface JournalOptions {
  /** The output file of the export. The journal and the lock are next to it. */
  readonly out: string;
  readonly identity: JournalIdentity;
  /** The number of handles. A handle is identified by its position in the list. */
  readonly size: number;
  /**
   * Whether to resume an existing journal. If not, a journal with requests or answers is an error, unless
   * `fresh` is set.
   */
  readonly resume: boolean;
  /** Whether to replace an existing journal and start over; ignored if `resume` is set. */
  readonly fresh?: boolean | undefined;
  readonly now: () => number;
}

/**
 * The digest of an export's handles. It is case-sensitive, because the output repeats the handles as the user
 * wrote them.
 */
export const digestOf = (handles: readonly string[]): string => sha256(JSON.stringify(handles));

/** Opens the journal next to `out`, and locks `out` until the journal is closed. */
export async function openJournal({
  out,
  identity,
  size,
  resume,
  fresh = false,
  now,
}: JournalOptions): Promise<ExportJournal> {
  const target = realPath(out);
  checkTarget(out, target);
  const path = `${target}.journal`;
  const lock = holdLock(`${target}.lock`, out);
  try {
    let index = journalIndex(size);
    const written = statsOf(path)?.mtimeMs ?? null;
    let header: Header | undefined;
    let asked = false;
    let fits = true;
    let end = loadJournal(path, (placed) => {
      if (placed.line.kind === 'header') header = placed.line;
      else if (!index.add(placed)) fits = false;
      asked ||= placed.line.kind === 'asking' || placed.line.kind === 'row';
    });
    const replaced = fresh && !resume;
    if (asked && !resume && !replaced) {
      throw usageError(
        `an earlier export to ${out} was interrupted; its paid answers are in ${path}`,
        'add --resume to continue, or --fresh to start over and pay again',
      );
    }
    if (replaced && asked) {
      index = journalIndex(size);
      asked = false;
    }
    if (end === undefined || !header || !asked) {
      // Start a new journal. It replaces an existing one only if that one has no requests and answers, or if
      // `fresh` is set.
      header = { kind: 'header', version: JOURNAL_VERSION, size, startedAt: now(), identity };
      const text = writeLine(header);
      writeAtomic(path, text);
      end = Buffer.byteLength(text);
    } else {
      checkSameExport(path, header.identity, identity, header.size === size && fits);
    }
    const file = await openJournalFile(path, end);
    return journalOn({
      file,
      path,
      target,
      lock,
      index,
      startedAt: header.startedAt,
      resumed: asked,
      writtenAt: asked ? written : null,
    });
  } catch (error) {
    lock.release();
    throw inWords('write the journal', path, error, resumeHint(error));
  }
}

type Header = Extract<JournalLine, { kind: 'header' }>;

function checkTarget(out: string, target: string): void {
  // The file may be a symbolic link into another folder.
  checkFolder(dirname(out));
  checkFolder(dirname(target));
  const there = statsOf(out);
  if (/[\\/]$/.test(out) || (there && !there.isFile())) {
    throw usageError(
      `${out} is not a regular file`,
      'write to a regular file, next to which the journal is saved',
    );
  }
}
