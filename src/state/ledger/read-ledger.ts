import { basename } from 'node:path';
import { fileFailure } from '../../base/files.ts';
import { readLines } from '../../base/lines.ts';
import type { LedgerEntry } from '../../contract/ports/ledger.ts';
import { CallReader, ledgerFiles, revealsOf } from './lines.ts';

/**
 * The entries from `since` on and before `until`. Within a file, the calls without an end come
 * last.
 */
export async function* readLedger(
  dir: string | undefined,
  since = 0,
  until = Number.POSITIVE_INFINITY,
): AsyncGenerator<LedgerEntry, void, void> {
  if (dir === undefined) return;
  const first = since > 0 ? new Date(Math.min(since, 8.64e15)).toISOString() : '';
  for (const path of ledgerFiles(dir)) {
    // A file is named after its day.
    if (basename(path, '.ndjson') < first.slice(0, 10)) continue;
    for (const entry of ledgerEntries(linesOf(path)))
      if (entry.time >= since && entry.time < until) yield entry;
  }
}

/**
 * The entries in the lines of a file. The calls without an end come last. @internal Exported for
 * tests.
 */
export function* ledgerEntries(lines: Iterable<string>): Generator<LedgerEntry, void, void> {
  const calls = new CallReader();
  for (const line of lines) {
    const entry = calls.read(line);
    if (entry) yield entry;
  }
  yield* calls.open.values();
}

function* linesOf(path: string): Generator<string> {
  try {
    yield* readLines(path);
  } catch (error) {
    throw fileFailure('read', path, error);
  }
}

export const ledgerGroups = [
  'command',
  'endpoint',
  'day',
  'profile',
  'host',
  'agent',
  'request',
] as const;
type LedgerGroup = (typeof ledgerGroups)[number];

/** The cost of a group of entries. */
interface GroupSum {
  readonly group: string;
  calls: number;
  cu: number;
  atMost: number;
  unpriced: number;
  /** Undefined if no entry states its reveals. */
  reveals?: number | undefined;
  revealsAtMost: number;
  /** If grouped by request: the last entry. */
  last?: LedgerEntry;
}

export type LedgerSum = Readonly<GroupSum>;

const emptySum = (group: string): GroupSum => ({
  group,
  calls: 0,
  cu: 0,
  atMost: 0,
  unpriced: 0,
  revealsAtMost: 0,
});

/**
 * Sums up entries. Days are sorted by date, requests by time, the latest first, and other groups by
 * cost, the highest first. Days are UTC, as in the bill of the service.
 */
export async function summarize(
  entries: AsyncIterable<LedgerEntry> | Iterable<LedgerEntry>,
  by: LedgerGroup,
): Promise<LedgerSum[]> {
  const sums = new Map<string, GroupSum>();
  for await (const entry of entries) {
    const { cu, cuAtMost = 0, calls = 1, unpriced } = entry;
    const group = groupOf(entry, by);
    const sum = sums.get(group) ?? emptySum(group);
    sums.set(group, sum);
    sum.calls += calls;
    sum.cu += cu;
    sum.atMost += cu + cuAtMost;
    sum.reveals = revealsOf(entry, sum);
    sum.revealsAtMost += (entry.reveals ?? 0) + (entry.revealsAtMost ?? 0);
    if (unpriced) sum.unpriced += calls;
    if (by === 'request') sum.last = entry;
  }
  const byName = (one: LedgerSum, other: LedgerSum) => (one.group < other.group ? -1 : 1);
  if (by === 'request') return [...sums.values()].sort((one, other) => timeOf(other) - timeOf(one));
  return [...sums.values()].sort((one, other) =>
    by === 'day' || one.cu === other.cu ? byName(one, other) : other.cu - one.cu,
  );
}

const timeOf = ({ last }: LedgerSum): number => last?.time ?? 0;

function groupOf(entry: LedgerEntry, by: LedgerGroup): string {
  if (by === 'day') return dayOf(entry.time);
  if (by === 'request') return entry.requestId ?? 'unknown';
  return entry[by] ?? (by === 'agent' ? 'none' : 'unknown');
}

/** An invalid time gets a group of its own. */
const dayOf = (time: number) =>
  Math.abs(time) <= 8.64e15 ? new Date(time).toISOString().slice(0, 10) : 'unknown';
