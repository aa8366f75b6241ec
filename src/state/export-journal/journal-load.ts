import { closeSync, fstatSync } from 'node:fs';
import { Failure } from '../../base/failure.ts';
import { fileFailure, isAbsent, openRegular, readAt } from '../../base/files.ts';
import { writeAtomic } from '../../base/replace-file.ts';
import { JOURNAL_VERSION, type JournalLine, readJournalLine } from './journal-lines.ts';

/** A line of a journal, and its position in the file. */
export interface Placed {
  readonly line: JournalLine;
  readonly at: number;
  readonly length: number;
}

/** Every journal begins with this text. */
const HEADER = '{"kind":"header"';
const CHUNK = 1024 * 1024;
const NEWLINE = 10;

/**
 * Calls `each` for every valid line of the journal at `path`, and returns the position after the last valid
 * line. Returns undefined if the journal does not exist, or if its first line is incomplete.
 *
 * A crash can damage only the end of a journal, because each write was synced to disk before the next one. An
 * invalid line that is followed by the lines of another write therefore means that the file is corrupt, and the
 * journal is rejected.
 */
export function loadJournal(path: string, each: (placed: Placed) => void): number | undefined {
  let good = 0;
  let torn = false;
  let closed = false;
  const salvaged: Buffer[] = [];
  let headed = false;
  for (const { bytes, at } of rawLines(path)) {
    const line = readJournalLine(bytes.toString('utf8'));
    if (line === undefined) {
      // A file that contains only the beginning of a first line is a journal cut off by a crash. A file that
      // begins with other text is not a journal.
      if (closed || (!headed && !HEADER.startsWith(bytes.toString('latin1', 0, HEADER.length)))) {
        throw damaged(path, at);
      }
      torn = true;
      continue;
    }
    if (!headed) {
      if (line.kind !== 'header' || torn) throw damaged(path, at);
      checkVersion(line.version, path);
      headed = true;
    }
    if (torn) {
      if (closed || (line.kind !== 'row' && line.kind !== 'answered')) throw damaged(path, at);
      closed = line.kind === 'answered';
      salvaged.push(bytes, Buffer.of(NEWLINE));
      each({ line, at: good, length: bytes.length });
    } else {
      each({ line, at, length: bytes.length });
    }
    good = torn ? good + bytes.length + 1 : at + bytes.length + 1;
  }
  if (!headed) return undefined;
  if (salvaged.length > 0) rewrite(path, good, salvaged);
  return good;
}

function checkVersion(version: number, path: string): void {
  if (version <= JOURNAL_VERSION) return;
  throw new Failure(
    'local',
    `the journal ${path} was written by a newer version of trdr (format version ${version})`,
    {
      code: 'JOURNAL_NEWER',
      hint: 'resume with the version of trdr that wrote it',
    },
  );
}

const damaged = (path: string, at: number) =>
  new Failure('local', `the journal ${path} is damaged at byte ${at}`, {
    code: 'JOURNAL_DAMAGED',
    hint: 'restore it from a backup, or move it away to start over and pay again',
  });

/** Atomically replaces a journal with its valid lines: those before and after the damaged line. */
function rewrite(path: string, good: number, salvaged: readonly Buffer[]): void {
  const tail = Buffer.concat(salvaged);
  const fd = openRegular(path);
  try {
    writeAtomic(path, Buffer.concat([readAt(fd, 0, good - tail.length), tail]));
  } finally {
    closeSync(fd);
  }
}

/** The non-empty lines of a file. The last line may lack its line break. */
function* rawLines(path: string): Generator<{ readonly bytes: Buffer; readonly at: number }> {
  let fd: number;
  try {
    fd = openRegular(path);
  } catch (error) {
    if (isAbsent(error)) return;
    throw fileFailure('read the journal', path, error);
  }
  try {
    const { size } = fstatSync(fd);
    for (let at = 0, room = CHUNK; at < size; ) {
      const chunk = readAt(fd, at, Math.min(room, size - at));
      let from = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
        if (end > from) yield { bytes: chunk.subarray(from, end), at: at + from };
        from = end + 1;
      }
      if (from === 0 && at + chunk.length < size) {
        // The line is longer than the buffer: read more of it.
        room *= 2;
        continue;
      }
      if (from === 0) {
        yield { bytes: chunk, at };
        return;
      }
      at += from;
      room = CHUNK;
    }
  } finally {
    closeSync(fd);
  }
}
