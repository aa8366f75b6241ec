import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileFailure, isAbsent } from '../../base/files.ts';
import { readLines } from '../../base/lines.ts';
import type { LedgerEntry } from '../../contract/ports.ts';
import { ended, readLedgerLine } from './lines.ts';
import { ledgerFolder, monthOf } from './months.ts';

/** Which entries to read; `since` (inclusive) and `until` (exclusive) are epoch ms. */
export interface LedgerRange {
  readonly dir: string | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/**
 * Yields the entries of a time range, month by month. Within a month, the calls without an `end` line come
 * last.
 */
export async function* readLedger({
  dir,
  since = 0,
  until = Number.POSITIVE_INFINITY,
}: LedgerRange): AsyncGenerator<LedgerEntry, void, void> {
  if (dir === undefined) return;
  const first = since > 0 ? monthOf(Math.min(since, 8.64e15)) : '';
  for (const name of monthsIn(ledgerFolder(dir))) {
    if (name.slice(0, 7) < first) continue;
    for (const entry of ledgerEntries(linesOf(join(ledgerFolder(dir), name)))) {
      if (entry.time >= since && entry.time < until) yield entry;
    }
  }
}

/**
 * The entries of a file. A call whose line the file contains twice counts once.
 * @internal Exported for tests.
 */
export function* ledgerEntries(lines: Iterable<string>): Generator<LedgerEntry, void, void> {
  const open = new Map<string, LedgerEntry>();
  const over = new Set<string>();
  for (const text of lines) {
    const line = readLedgerLine(text);
    if (line?.kind === 'entry') yield line.entry;
    else if (line?.kind === 'open') {
      if (!over.has(line.id)) open.set(line.id, line.entry);
    } else if (line) {
      const entry = open.get(line.id);
      open.delete(line.id);
      remember(over, line.id);
      const settled = entry && ended(entry, line.end);
      if (settled) yield settled;
    }
  }
  yield* open.values();
}

/**
 * How many ids to remember for recognizing duplicate lines. A small number suffices, because a duplicate
 * follows its original closely.
 */
const REMEMBERED = 10_000;

function remember(ids: Set<string>, id: string): void {
  if (ids.size >= REMEMBERED) {
    const [oldest = ''] = ids;
    ids.delete(oldest);
  }
  ids.add(id);
}

function monthsIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^\d{4}-\d{2}\.ndjson$/.test(name))
      .sort();
  } catch (error) {
    if (isAbsent(error)) return [];
    throw fileFailure('read', folder, error);
  }
}

function* linesOf(path: string): Generator<string> {
  try {
    yield* readLines(path);
  } catch (error) {
    throw fileFailure('read', path, error);
  }
}
