import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { appendLines, ensureFolder, fileFailure, isAbsent } from '../base/files.ts';
import { readLines } from '../base/lines.ts';

/** What one paid call cost. Never holds a key or a body. */
export interface LedgerEntry {
  readonly time: number;
  readonly command: string;
  readonly profile: string;
  readonly endpoint: string;
  /** Null where no answer came. */
  readonly status: number | null;
  readonly cu: number;
  /** Where no answer came: the most that may have been charged. */
  readonly cuAtMost?: number | undefined;
  readonly requestId?: string | undefined;
}

/** Where the ledger lies, and who is told when it can't be written. */
export interface LedgerOptions {
  /** The state folder; undefined where there is none. */
  readonly dir: string | undefined;
  /** Told once, when an entry can't be written. */
  readonly notice?: (text: string) => void;
}

const monthOf = (time: number) => new Date(time).toISOString().slice(0, 7);
const folderOf = (dir: string) => join(dir, 'ledger');

/** Opens the ledger for writing: one line an entry, one file a UTC month. It never fails a run. */
export function openLedger({ dir, notice }: LedgerOptions): { append(entry: LedgerEntry): void } {
  let told = false;
  const tell = (why: string) => {
    if (!told) notice?.(`what this run costs is not written down: ${why}`);
    told = true;
  };
  return {
    append(entry) {
      if (dir === undefined) return tell('there is no home folder to keep the state folder in');
      const { time, command, profile, endpoint, status, cu, cuAtMost, requestId } = entry;
      // Field by field: whatever else a caller's object holds stays out of the file.
      const line = JSON.stringify({ time, command, profile, endpoint, status, cu, cuAtMost, requestId });
      try {
        const path = join(folderOf(dir), `${monthOf(time)}.ndjson`);
        try {
          appendLines(path, `${line}\n`);
        } catch (error) {
          if (!isAbsent(error)) throw error;
          ensureFolder(folderOf(dir));
          appendLines(path, `${line}\n`);
        }
      } catch (error) {
        tell(fileFailure('write in', folderOf(dir), error).message);
      }
    },
  };
}

/** Which part of the ledger is read; `since` and `until` are epoch ms, `until` not included. */
export interface LedgerRange {
  readonly dir: string | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** The entries of a range, month by month, as they were written. Torn lines are passed over. */
export async function* readLedger({ dir, since = 0, until = Number.POSITIVE_INFINITY }: LedgerRange) {
  if (dir === undefined) return;
  const first = since > 0 ? monthOf(Math.min(since, 8.64e15)) : '';
  for (const name of monthsIn(folderOf(dir))) {
    if (name.slice(0, 7) < first) continue;
    for (const line of linesOf(join(folderOf(dir), name))) {
      const entry = readEntry(line);
      if (entry && entry.time >= since && entry.time < until) yield entry;
    }
  }
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

/** Reads one line; undefined where it is torn or no entry. */
export function readEntry(line: string): LedgerEntry | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const {
    time,
    command,
    profile,
    endpoint,
    status,
    cu,
    cuAtMost,
    requestId,
  }: Partial<Record<string, unknown>> = {
    ...value,
  };
  if (!isNumber(time) || !isNumber(cu) || !(status === null || isNumber(status))) return undefined;
  if (typeof command !== 'string' || typeof profile !== 'string' || typeof endpoint !== 'string')
    return undefined;
  return {
    time,
    command,
    profile,
    endpoint,
    status,
    cu,
    ...(isNumber(cuAtMost) && { cuAtMost }),
    ...(typeof requestId === 'string' && { requestId }),
  };
}

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** What the ledger can be summed by. */
export const ledgerGroups = ['command', 'endpoint', 'day', 'profile'] as const;
export type LedgerGroup = (typeof ledgerGroups)[number];

/** The sum of a group. `atMost` adds what answers that never came may have cost. */
export interface LedgerSum {
  readonly group: string;
  readonly calls: number;
  readonly cu: number;
  readonly atMost: number;
}

/** Sums entries by a part of them: days in their order, all else by what it cost. Days are UTC, as the bill is. */
export async function summarise(
  entries: AsyncIterable<LedgerEntry> | Iterable<LedgerEntry>,
  by: LedgerGroup,
): Promise<LedgerSum[]> {
  const sums = new Map<string, LedgerSum>();
  for await (const entry of entries) {
    const group = by === 'day' ? dayOf(entry.time) : entry[by];
    const { calls, cu, atMost } = sums.get(group) ?? { calls: 0, cu: 0, atMost: 0 };
    sums.set(group, {
      group,
      calls: calls + 1,
      cu: cu + entry.cu,
      atMost: atMost + entry.cu + (entry.cuAtMost ?? 0),
    });
  }
  const byName = (one: LedgerSum, other: LedgerSum) => (one.group < other.group ? -1 : 1);
  return [...sums.values()].sort((one, other) =>
    by === 'day' || one.cu === other.cu ? byName(one, other) : other.cu - one.cu,
  );
}

/** A time that no calendar has still has a group. */
const dayOf = (time: number) =>
  Math.abs(time) <= 8.64e15 ? new Date(time).toISOString().slice(0, 10) : 'unknown';
