import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { Failure, usageError } from '../../base/failure.ts';
import {
  checkFolder,
  ensureFolder,
  inWords,
  readBounded,
  realPath,
  statsOf,
  syncFolder,
} from '../../base/files.ts';
import { plainJson } from '../../base/json-object.ts';
import { holdLock } from '../../base/lock.ts';
import { writeAtomic } from '../../base/replace-file.ts';
import { sha256 } from '../../base/sha256.ts';
import {
  batchesIn,
  damaged,
  ExportJournal,
  type ParseValue,
  removeJournal,
  resumeHint,
} from './journal.ts';

const VERSION = 3;
const HEADER = 'export.json';
const Header = z.object({
  version: z.number(),
  handles: z.string(),
  service: z.nullable(z.string()),
});

/** What an export asks for. Only the same export can resume its journal. */
export interface ExportIdentity {
  /** What it asks for, as the user wrote it, because the output repeats that. */
  readonly texts: readonly string[];
  /** The number of answers, each of which has its row. */
  readonly size: number;
  /** What the texts are, for the message that another export has others. */
  readonly noun: string;
}

/** What becomes of the journal of an interrupted export, which has answers that were paid for. */
export type BegunJournal = 'refuse' | 'resume' | 'discard';

/** Opens the journal beside `out`, and locks `out` until the journal is closed. */
export async function openJournal<T>(
  out: string,
  { texts, size, noun }: ExportIdentity,
  service: string | null,
  begun: BegunJournal,
  parse: ParseValue<T>,
): Promise<ExportJournal<T>> {
  const target = realPath(out);
  checkTarget(out, target);
  const path = `${target}.journal`;
  const lock = holdLock(`${target}.lock`, out);
  try {
    const handles = sha256(JSON.stringify(texts));
    const header = readHeader(path);
    const isBegun = header !== undefined && batchesIn(path).length > 0;
    if (isBegun && begun === 'refuse') {
      throw usageError(
        `an earlier export to ${out} was interrupted; its paid answers are in ${path}`,
        'add --resume to continue, or --fresh to start over and pay again',
      );
    }
    if (isBegun && begun === 'resume') {
      const differ = header.handles === handles ? [] : [noun];
      if (header.service !== service) differ.push('the service');
      if (differ.length > 0) throw otherExport(path, differ);
    } else {
      if (isBegun) removeJournal(path);
      ensureFolder(path);
      writeAtomic(
        join(path, HEADER),
        `${JSON.stringify({ version: VERSION, handles, service })}\n`,
      );
      syncFolder(dirname(path));
    }
    return new ExportJournal(path, target, lock, size, parse);
  } catch (error) {
    lock.release();
    throw inWords('write the journal', path, error, resumeHint(error));
  }
}

/** Undefined if there is no journal, or if a process was killed before it wrote the header. */
function readHeader(path: string): z.infer<typeof Header> | undefined {
  const stats = statsOf(path);
  if (!stats) return undefined;
  const text = stats.isDirectory() ? readBounded(join(path, HEADER), 64 * 1024) : undefined;
  if (text === undefined) {
    if (stats.isDirectory() && readdirSync(path).every((name) => name.startsWith('.trdr-')))
      return undefined;
    throw otherVersion(path);
  }
  const header = Header.safeParse(plainJson(text));
  if (!header.success) throw damaged(join(path, HEADER));
  if (header.data.version !== VERSION) throw otherVersion(path);
  return header.data;
}

function checkTarget(out: string, target: string): void {
  // The file may be a symbolic link into another folder.
  checkFolder(dirname(out));
  checkFolder(dirname(target));
  const stats = statsOf(out);
  if (/[\\/]$/.test(out) || (stats && !stats.isFile())) {
    throw usageError(
      `${out} is not a regular file`,
      'write to a regular file, next to which the journal is saved',
    );
  }
}

const otherExport = (path: string, differ: readonly string[]) =>
  new Failure(
    'usage',
    `the journal ${path} belongs to a different export; what differs: ${differ.join(', ')}`,
    {
      code: 'JOURNAL_OTHER',
      hint: 'finish that export first, write to a different file, or add --fresh to start over and pay again',
    },
  );

const otherVersion = (path: string) =>
  new Failure('local', `${path} is not a journal of this version of trdr`, {
    code: 'JOURNAL_VERSION',
    hint: 'if another version of trdr wrote it, finish the export with that version; otherwise move it away to start over and pay again',
  });
