import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileFailure, isAbsent } from '../../base/files.ts';
import { readLines } from '../../base/lines.ts';
import type { LedgerEntry } from '../../contract/ports.ts';
import { createCallReader, ledgerFolder, monthOf } from './lines.ts';

/** Which entries to read; `since` (inclusive) and `until` (exclusive) are epoch ms. */
interface LedgerRange {
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
 * The entries of a file; the calls without an end come last.
 * @internal Exported for tests.
 */
export function* ledgerEntries(lines: Iterable<string>): Generator<LedgerEntry, void, void> {
  const calls = createCallReader();
  for (const line of lines) {
    const entry = calls.read(line);
    if (entry) yield entry;
  }
  yield* calls.open.values();
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
