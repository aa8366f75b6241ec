import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Failure, usageError } from '../../base/failure.ts';
import { inWords, realPath } from '../../base/files.ts';
import { holdLock } from '../../base/lock.ts';
import { writeAtomic } from '../../base/replace-file.ts';
import { sha256 } from '../../base/sha256.ts';
import { type ExportJournal, journalOn } from './journal.ts';
import { openJournalFile } from './journal-file.ts';
import { journalIndex } from './journal-index.ts';
import {
  differences,
  JOURNAL_VERSION,
  type JournalIdentity,
  type JournalLine,
  writeLine,
} from './journal-lines.ts';
import { loadJournal } from './journal-load.ts';

export type { ExportJournal } from './journal.ts';

/** What a journal is opened for. */
export interface JournalOptions {
  /** The output file of the export; journal and lock are beside it. */
  readonly out: string;
  readonly identity: JournalIdentity;
  /** Number of handles; each is identified by its position. */
  readonly size: number;
  /** Resumes an existing journal; otherwise, an existing journal is an error. */
  readonly resume: boolean;
  /** Without `resume`, an existing journal is replaced. */
  readonly fresh?: boolean | undefined;
  readonly now: () => number;
}

/** The digest of an export's handles. It is case-sensitive, because the output repeats them as given. */
export const digestOf = (handles: readonly string[]): string => sha256(JSON.stringify(handles));

/** Opens the journal beside `out`, and locks `out` until it is closed. */
export async function openJournal({
  out,
  identity,
  size,
  resume,
  fresh = false,
  now,
}: JournalOptions): Promise<ExportJournal> {
  checkTarget(out);
  const target = realPath(out);
  const path = `${target}.journal`;
  const lock = holdLock(`${target}.lock`, out);
  try {
    let index = journalIndex(size);
    const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;
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
        `an export to ${out} was interrupted; its paid answers are in ${path}`,
        'add --resume to continue, or --fresh to start over and pay again',
      );
    }
    if (replaced && asked) {
      index = journalIndex(size);
      asked = false;
    }
    if (end === undefined || !header || !asked) {
      // Nothing was requested yet, so nothing was paid for.
      header = { kind: 'header', version: JOURNAL_VERSION, size, startedAt: now(), identity };
      const text = writeLine(header);
      writeAtomic(path, text);
      end = Buffer.byteLength(text);
    } else {
      const differ = differences(header.identity, identity);
      if (differ.length === 0 && (header.size !== size || !fits)) differ.push('the number of handles');
      if (differ.length > 0) throw foreign(path, differ);
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
    throw inWords('write the journal', path, error);
  }
}

type Header = Extract<JournalLine, { kind: 'header' }>;

const foreign = (path: string, differ: readonly string[]) =>
  new Failure('usage', `the journal ${path} belongs to another export: ${differ.join(', ')} differ`, {
    code: 'JOURNAL_OTHER',
    hint: `finish that export, write to another file, or add --fresh without --resume to start over and pay again`,
  });

function checkTarget(out: string): void {
  const folder = statSync(dirname(out), { throwIfNoEntry: false });
  if (!folder?.isDirectory()) {
    throw usageError(`folder ${dirname(out)} does not exist`, `create it: mkdir -p '${dirname(out)}'`);
  }
  const there = statSync(out, { throwIfNoEntry: false });
  if (there && !there.isFile()) {
    throw usageError(`${out} is not a regular file`, 'a resumable export requires a regular file');
  }
}
