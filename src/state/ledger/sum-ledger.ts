import type { LedgerEntry } from '../../contract/ports.ts';

/** What the ledger can be grouped by. */
export const ledgerGroups = ['command', 'endpoint', 'day', 'profile', 'host'] as const;
export type LedgerGroup = (typeof ledgerGroups)[number];

/** The sum of a group. */
export interface LedgerSum {
  readonly group: string;
  readonly calls: number;
  /** CU that answers are known to have cost. */
  readonly cu: number;
  /** `cu` plus the maximum cost of calls with an unknown outcome. */
  readonly atMost: number;
  /** Number of calls of unknown price. */
  readonly unpriced: number;
}

/**
 * Sums entries by one of their members: days in order, other groups by cost. Days are UTC, like the bill.
 */
export async function summarize(
  entries: AsyncIterable<LedgerEntry> | Iterable<LedgerEntry>,
  by: LedgerGroup,
): Promise<LedgerSum[]> {
  const sums = new Map<string, LedgerSum>();
  for await (const entry of entries) {
    const group = groupOf(entry, by);
    sums.set(group, added(sums.get(group) ?? { group, calls: 0, cu: 0, atMost: 0, unpriced: 0 }, entry));
  }
  const byName = (one: LedgerSum, other: LedgerSum) => (one.group < other.group ? -1 : 1);
  return [...sums.values()].sort((one, other) =>
    by === 'day' || one.cu === other.cu ? byName(one, other) : other.cu - one.cu,
  );
}

function added(sum: LedgerSum, { cu, cuAtMost = 0, calls = 1, unpriced }: LedgerEntry): LedgerSum {
  return {
    group: sum.group,
    calls: sum.calls + calls,
    cu: sum.cu + cu,
    atMost: sum.atMost + cu + cuAtMost,
    unpriced: sum.unpriced + (unpriced ? calls : 0),
  };
}

const groupOf = (entry: LedgerEntry, by: LedgerGroup): string =>
  by === 'day' ? dayOf(entry.time) : (entry[by] ?? 'unknown');

/** A time outside the calendar still gets a group. */
const dayOf = (time: number) =>
  Math.abs(time) <= 8.64e15 ? new Date(time).toISOString().slice(0, 10) : 'unknown';
